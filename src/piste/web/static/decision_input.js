// Decisions: touch to choose, touch again or confirm to decide; the same by keys; or typed.
const $ = (id) => document.getElementById(id);
const choices = () => [...document.querySelectorAll(".pick, .choice")].filter((one) => one.offsetParent);
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const KEY_PAUSE_MS = 1200; // between two keys of one name, such as R, 1 and +
let connection, dom, chosenId = null, questionNumber = "", typed = "", typedAt = -Infinity;

export function begin(tableConnection, domModule) {
  connection = tableConnection;
  dom = domModule;
  document.addEventListener("click", click);
  document.addEventListener("submit", submit);
  document.addEventListener("keydown", keydown);
  for (const event of ["pointerover", "focusin", "focusout"]) document.addEventListener(event, preview);
}

// Shows what a move would make of the cells of a grid: the move pointed at, else the focused one, else the chosen one.
function preview() {
  const grid = document.querySelector("table.grid");
  if (!grid) return;
  const handle = ["hover", "focus-visible"].map((state) => grid.querySelector(`.pick:${state}`)).find(Boolean) ?? grid.querySelector(".pick[aria-pressed=true]");
  for (const cell of grid.querySelectorAll(".cell")) {
    const moved = handle && cell.classList.contains(handle.dataset.line);
    for (const change of ["more", "less"]) cell.classList.toggle(change, Boolean(moved) && handle.dataset.change === change);
  }
}

export function refresh() {
  const number = document.querySelector(".panel")?.dataset.number;
  if (number !== questionNumber) chosenId = null;
  questionNumber = number;
  for (const one of document.querySelectorAll(".pick")) one.setAttribute("aria-pressed", "false");
  const again = chosenId && $(chosenId);
  if (again?.classList.contains("pick")) choose(again);
  else chosenId = null;
  preview();
}

function choose(button, announce) {
  if (chosenId && $(chosenId)) $(chosenId).setAttribute("aria-pressed", "false");
  chosenId = button?.id ?? null;
  button?.setAttribute("aria-pressed", "true");
  preview();
  const confirm = $("confirm");
  if (!confirm) return;
  confirm.hidden = !button;
  document.querySelector(".pick-one").hidden = Boolean(button);
  if (!button) return;
  confirm.querySelector("b").textContent = button.dataset.say;
  confirm.querySelector("small").textContent = button.dataset.more;
  if (announce) dom.say(`${[...confirm.children].map((one) => one.textContent).filter(Boolean).join(". ").replace(/\.?$/, ".")} Once more to confirm.`);
}

function decide(decision) {
  dom.refuse("");
  dom.state("read");
  const panel = document.querySelector(".panel");
  panel.setAttribute("aria-busy", "true");
  connection.ask({ do: "decide", decision, number: Number(panel.dataset.number) }, (answer) => {
    document.querySelector(".panel")?.removeAttribute("aria-busy");
    if (answer.ok) $("typed-decision").value = "";
    else dom.refuse(answer.said);
  });
}

function click(event) {
  const pick = event.target.closest(".pick");
  if (pick) {
    event.preventDefault();
    if (pick.id === chosenId) decide(pick.value);
    else choose(pick, true);
  } else if (event.target.closest("#confirm") && chosenId) decide($(chosenId).value);
}

function submit(event) {
  const form = event.target;
  if (form.id === "typed") {
    event.preventDefault();
    const text = $("typed-decision").value.trim();
    if (text) decide(text);
  } else if (form.id === "decide") {
    event.preventDefault();
    if (event.submitter?.value) decide(event.submitter.value);
  } else if (form.dataset.do && form.dataset.do !== "delete") {
    event.preventDefault();
    const fields = Object.fromEntries(new FormData(form));
    form.querySelector("button").setAttribute("aria-busy", "true");
    connection.ask({ do: form.dataset.do, ...fields }, (answer) => {
      $(`do-${form.dataset.do}`)?.removeAttribute("aria-busy");
      if (!answer.ok) dom.state("note", answer.said);
      else if (answer.said) dom.say(answer.said);
      if (answer.go) location.assign(answer.go);
    });
  }
}

function keydown(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (dom.roundEndOpen()) {
    if (event.key === "Enter" && !event.target.closest("button, a, summary")) $("next-round").form.requestSubmit();
    return;
  }
  if (event.key in ARROWS) return moveFocus(event);
  if (event.key === "Escape") return choose(null);
  if (event.key === "Enter" && event.target === document.body && chosenId) return decide($(chosenId).value);
  if (shortcutsOff()) return;
  if (event.key === "?") $("help-dialog").showModal();
  else if (event.key === "/" && !$("typing").hidden) {
    $("typing").open = true;
    $("typed-decision").focus();
  } else if (event.repeat || !/^[\p{L}\p{N}*+-]$/u.test(event.key) || !chooseByKey(event.key)) return;
  event.preventDefault();
}

function shortcutsOff() {
  try {
    return localStorage.getItem("piste-keys") === "off";
  } catch {
    return false; // some browsers keep nothing
  }
}

function moveFocus(event) {
  const all = choices();
  if (!all.length || event.target.closest("summary, [role=log], .prose") || scrolls(event.target)) return;
  event.preventDefault();
  const from = all.indexOf(document.activeElement);
  if (from < 0) return all[0].focus();
  const [x, y] = ARROWS[event.key];
  const middle = (one) => {
    const box = one.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  };
  const [ax, ay] = middle(all[from]);
  let best = null, least = Infinity;
  for (const one of all) {
    const [bx, by] = middle(one);
    const along = (bx - ax) * x + (by - ay) * y, aside = Math.abs((bx - ax) * y) + Math.abs((by - ay) * x);
    if (along > 4 && along + 2 * aside < least && aside < 3 * along) [best, least] = [one, along + 2 * aside];
  }
  (best ?? (y ? all[from] : all.at((from + x) % all.length))).focus();
}

function scrolls(place) {
  return place.id === "part-scene" && place.scrollHeight > place.clientHeight;
}

// A key means what bears it: the letter on a button, the number on a card, or one after the other what a decision is
// called, such as R, 1 and +. Where nothing bears a number, a digit means the first, the second and so on.
function chooseByKey(key) {
  const all = choices(), now = performance.now();
  const starting = (text) => all.filter((one) => namesOf(one).some((name) => name.startsWith(text)));
  typed = (now - typedAt < KEY_PAUSE_MS ? typed : "") + key.toLowerCase();
  typedAt = now;
  let fits = starting(typed);
  if (!fits.length) fits = starting((typed = key.toLowerCase()));
  if (!fits.length && /^[1-9]$/.test(key)) fits = all.slice(key - 1, key);
  if (!fits.length) return false;
  const next = fits[(fits.indexOf(document.activeElement) + 1) % fits.length];
  next.focus();
  if (next.classList.contains("pick")) {
    if (next.id !== chosenId) choose(next, true);
  } else if (fits.length === 1 && namesOf(next).some((name) => name.startsWith(typed)) && !$("main").classList.contains("click-guard")) next.click();
  return true;
}

const namesOf = (one) =>
  [one.querySelector("kbd")?.textContent, one.dataset.key, one.value].filter(Boolean).map((name) => name.toLowerCase().replace("−", "-").replace(/^[+](?=.)/, ""));
