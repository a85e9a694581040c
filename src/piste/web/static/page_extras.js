// What pages share: copying and sharing links, the rules beside the game, questions before what cannot be undone, names.
const $ = (id) => document.getElementById(id);

export function begin() {
  document.addEventListener("click", click);
  document.addEventListener("submit", copyName, true);
  const field = document.querySelector("[data-name]");
  if (field && !field.value) field.value = load("piste-name");
  const log = $("more-log");
  if (log) {
    log.hidden = false;
    log.addEventListener("click", () => {
      const open = log.closest(".told").classList.toggle("open");
      log.setAttribute("aria-expanded", open);
      log.textContent = open ? "Show less" : "Show all";
      $("log-box").scrollTop = $("log-box").scrollHeight;
    });
  }
  for (const time of document.querySelectorAll("time[datetime]")) time.textContent = localTime(time.dateTime);
  document.addEventListener("change", showFeel);
  if (document.querySelector("form.bot")) document.addEventListener("keydown", chooseGame);
  document.documentElement.classList.toggle("no-keys", load("piste-keys") === "off");
  if ("serviceWorker" in navigator) navigator.serviceWorker.register(`/service-worker.js${new URL(import.meta.url).search}`).catch(() => {});
  if (document.body.dataset.page === "offline") reopen();
  const tips = $("tips");
  if (tips && !load("piste-seen").split(" ").includes(tips.dataset.game)) {
    // The first time a user plays a game, its tips are open.
    tips.open = true;
    save("piste-seen", `${load("piste-seen")} ${tips.dataset.game}`.trim());
  }
  const keys = $("keys-on");
  if (keys) {
    $("show-keys").hidden = matchMedia("(hover: none)").matches;
    $("show-keys").addEventListener("click", () => $("help-dialog").showModal());
    keys.checked = load("piste-keys") !== "off";
    keys.addEventListener("change", () => {
      save("piste-keys", keys.checked ? "on" : "off");
      document.documentElement.classList.toggle("no-keys", !keys.checked);
    });
  }
  refresh();
}

export function refresh() {
  for (const one of document.querySelectorAll(".copy, #just-watch")) one.hidden = false;
  for (const one of document.querySelectorAll(".share")) one.hidden = !navigator.share;
}

function load(what) {
  try {
    return localStorage.getItem(what) ?? "";
  } catch {
    return "";
  }
}

function save(what, text) {
  try {
    localStorage.setItem(what, text);
  } catch {
    // Some browsers store nothing. Then the user is asked again.
  }
}

// One name field serves all forms of a page.
function copyName() {
  const field = document.querySelector("[data-name]");
  if (!field) return;
  save("piste-name", field.value.trim());
  for (const one of document.querySelectorAll("[data-named]")) one.value = field.value;
}

function click(event) {
  const on = (what) => event.target.closest?.(what);
  const copy = on("[data-copy]"), share = on("[data-share]"), rules = on("[data-rules]"), fold = on("details[data-ask] > summary");
  if (copy) copyLink(copy);
  else if (on("#just-watch")) document.body.classList.add("just-watch");
  else if (share) navigator.share({ title: share.dataset.title, url: share.dataset.share }).catch(() => {});
  else if (rules && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    openRules(rules);
  } else if (fold && $("ask-dialog")) {
    event.preventDefault();
    askFirst(fold.parentElement);
  } else if (event.target.matches?.("dialog")) event.target.close();
}

async function copyLink(button) {
  const text = button.dataset.copy, field = button.parentElement.querySelector("input");
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without https there is no clipboard for pages; the old way still works.
    field.select();
    document.execCommand("copy");
  }
  const label = button.dataset.label ?? (button.dataset.label = button.textContent);
  button.textContent = "Copied";
  if ($("said")) $("said").textContent = "Copied.";
  setTimeout(() => { button.textContent = label; }, 4000);
}

async function openRules(link) {
  const place = $("rules-text");
  if (!place.childElementCount) {
    try {
      const answer = await fetch(link.dataset.rules);
      if (!answer.ok) throw new Error(answer.status);
      place.innerHTML = await answer.text();
    } catch {
      return location.assign(link.href);
    }
  }
  $("rules-dialog").showModal();
}

function askFirst(fold) {
  const dialog = $("ask-dialog"), id = fold.id;
  $("ask-text").textContent = fold.dataset.ask;
  dialog.returnValue = "no";
  dialog.onclose = () => {
    const form = (id ? $(id) : fold)?.querySelector("form");
    if (dialog.returnValue === "yes") form?.requestSubmit(form.querySelector("button"));
  };
  dialog.showModal();
}

function localTime(text) {
  const time = new Date(text), today = time.toDateString() === new Date().toDateString();
  return today ? `today ${time.toLocaleTimeString([], { timeStyle: "short" })}` : time.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

// How the chosen level feels to play against.
function showFeel({ target }) {
  if (target.dataset.feel) $(target.dataset.feel).textContent = target.selectedOptions[0].dataset.feel;
}

// On the first page, a digit goes to the game of that number; Enter then plays it.
function chooseGame(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea") || load("piste-keys") === "off") return;
  if (/^[1-9]$/.test(event.key)) document.querySelectorAll("form.bot .main")[event.key - 1]?.focus();
}

// The page for no connection stands at the address that was asked for, which is opened once the server answers.
async function reopen() {
  addEventListener("online", () => location.reload());
  for (;;) {
    await new Promise((done) => setTimeout(done, 3000));
    const answer = await fetch("/healthz").catch(() => null);
    if (answer?.ok) return location.reload();
  }
}
