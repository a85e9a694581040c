// The parts of a table's page: puts in what the server sends and keeps focus, typed text and open folds where they were.
const highlight = await import(`./highlight.js${new URL(import.meta.url).search}`);
const $ = (id) => document.getElementById(id);
const shown = {};
const title = document.title;
let homeless = ""; // the part that had the focus, while nothing there can have it
let seen = 0; // the last round whose end the player has looked at
let goOn;

export function begin(given) {
  goOn = given;
  document.addEventListener("submit", nextRound);
  document.addEventListener("visibilitychange", name);
  addEventListener("resize", bottom);
  name();
  bottom();
  $("banner").addEventListener("click", () => state("done"));
}

export function take(message) {
  const asked = turn(), stood = held();
  delete document.body.dataset.deal;
  for (const [part, html] of Object.entries(message.parts ?? {})) swap(part, html);
  const news = (message.log ?? []).filter(([number]) => !$(`line-${number}`));
  for (const [number, kind, text] of news) {
    const line = document.createElement("li");
    line.id = `line-${number}`;
    line.className = kind;
    line.textContent = text;
    $("log").append(line);
  }
  if (news.length) bottom();
  if (held() && !stood) {
    $("round-end").focus({ preventScroll: true });
    scrollTo(0, 0); // it begins where the table did
  } else if (question() && turn() !== asked && !held()) say(question());
  name();
  return news.filter(([, kind]) => kind !== "drawn").map(([, , text]) => text); // the page draws those itself
}

function swap(part, html) {
  const place = $(`part-${part}`);
  if (!place || shown[part] === html) return;
  const before = highlight.seen(place);
  shown[part] = html;
  const focus = place.contains(document.activeElement) ? document.activeElement : null;
  const typed = [...place.querySelectorAll("input[id]:not([type=hidden], [readonly]), select[id]")].map((field) => [field.id, field.value]);
  const open = [...place.querySelectorAll("details[open][id]")].map((fold) => fold.id);
  place.innerHTML = html;
  if (before.size) highlight.mark(place, before); // a table just laid is new as a whole
  for (const id of open) if ($(id)) $(id).open = true;
  for (const [id, value] of typed) if ($(id)) $(id).value = value;
  if (focus || (homeless === part && document.activeElement === document.body)) {
    const same = focus?.id && $(focus.id);
    homeless = "";
    if (same) same.focus({ preventScroll: true });
    else {
      // What had the focus is gone: stay near, so that the next key goes on from here.
      const near = place.querySelector(".panel, .areas") ?? place;
      near.tabIndex = -1;
      near.focus({ preventScroll: true });
      if (document.activeElement !== near) homeless = part;
    }
  }
  if (part === "choices") follow();
  if (part === "round") $("main").classList.toggle("held", held());
}

// Whether the end of a round stands before the table. It stands there for this player alone.
export function held() {
  return Number($("round-end")?.dataset.round ?? 0) > seen;
}

function nextRound(event) {
  const card = event.target.closest("#round-end");
  if (!card) return;
  event.preventDefault();
  seen = Number(card.dataset.round);
  $("main").classList.remove("held");
  const near = document.querySelector(".panel") ?? $("part-scene");
  near.tabIndex = -1;
  near.focus({ preventScroll: true });
  if (question()) say(question());
  goOn();
}

function follow() {
  const panel = document.querySelector(".panel");
  if (panel) $("typed-number").value = panel.dataset.number;
  $("typed").hidden = !panel?.classList.contains("live");
  if (panel && panel.dataset.seat !== document.body.dataset.seat) location.reload(); // sat down through another window
  $("typed-decision").placeholder = panel?.dataset.asks ?? "";
}

function question() {
  return $("question")?.textContent ?? "";
}

// What the player has to answer now: a question, or the end of a round.
export function asks() {
  return held() ? `round ${$("round-end").dataset.round}` : turn();
}

// The same question asked again is a new one.
function turn() {
  return `${document.querySelector(".panel")?.dataset.number} ${question()}`;
}

function name() {
  const yours = document.querySelector(".panel[data-turn='1']");
  document.title = yours && document.hidden ? `Your turn · ${title}` : title;
}

function bottom() {
  const box = $("log-box");
  box.scrollTop = box.scrollHeight;
}

export function say(text) {
  $("said").textContent = text;
}

export function refuse(text) {
  $("refusal").textContent = text;
  if ($("typed").hidden) state("note", text);
}

const SAYS = {
  lost: "Reconnecting…",
  bye: "The server restarts. This page comes back by itself…",
  polling: "The live line is blocked here. This page asks for news every few seconds.",
};

export function state(now, text) {
  const banner = $("banner"), quiet = now === "open" || now === "done";
  if (now === "read") {
    if (banner.dataset.now === "note") state("done");
    return;
  }
  if (now === "open" && banner.dataset.now === "note") return; // a note stays until somebody does something
  banner.dataset.now = now;
  banner.hidden = quiet;
  banner.textContent = quiet ? "" : (text ?? SAYS[now]);
}

export function away(news) {
  const over = document.querySelector(".result h2")?.textContent;
  state("note", `While you were away: ${over ?? news.slice(-3).join(" ")}`);
}
