// The parts of a table's page: puts in what the server sends and keeps focus, typed text and open folds where they were.
const highlight = await import(`./highlight.js${new URL(import.meta.url).search}`);
const $ = (id) => document.getElementById(id);
const partHtml = {};
const title = document.title;
let focusPart = ""; // the part that had the focus, while nothing in it can take it
let roundSeen = 0; // the last round whose end the player has closed
let resume;
let called = ""; // what was last said of a rematch

export function begin(onResume) {
  resume = onResume;
  document.addEventListener("submit", nextRound);
  addEventListener("resize", scrollLog);
  updateTitle();
  scrollLog();
  $("banner").addEventListener("click", () => state("done"));
}

export function applyMessage(message) {
  const asked = questionKey(), wasOpen = roundEndOpen();
  delete document.body.dataset.deal;
  for (const [part, html] of Object.entries(message.parts ?? {})) replacePart(part, html);
  if (message.areas) replaceAreas(message.areas);
  const news = (message.log ?? []).filter(([number]) => !$(`line-${number}`));
  for (const [number, kind, text] of news) {
    const line = document.createElement("li");
    line.id = `line-${number}`;
    line.className = kind;
    line.textContent = text;
    $("log").append(line);
  }
  hideNextRound();
  if (news.length) scrollLog();
  if (roundEndOpen() && !wasOpen) {
    $("round-end").focus({ preventScroll: true });
    scrollTo(0, 0); // it begins where the table did
  } else if (toAnnounce() && questionKey() !== asked && !roundEndOpen()) say(toAnnounce());
  const call = rematchCall();
  if (call && call !== called) say(call);
  called = call;
  updateTitle();
  return news.filter(([, kind]) => kind !== "drawn").map(([, , text]) => text); // the page draws those itself
}

function replacePart(part, html) {
  const place = $(`part-${part}`);
  if (!place || partHtml[part] === html) return;
  partHtml[part] = html;
  replaceIn(part, () => { place.innerHTML = html; });
}

// Puts single areas on the table: a number stands for an area that stays, HTML for a new one. What stays is not touched.
function replaceAreas(areas) {
  const place = $("part-scene"), box = place.querySelector(".areas"), before = [...box.children];
  delete partHtml.scene; // it is no longer what was sent as a whole
  replaceIn("scene", () => {
    const after = areas.map((area) => (typeof area === "number" ? before[area] : fragment(area)));
    for (const area of before) if (!after.includes(area)) area.remove();
    let next = null;
    for (const area of after.reverse()) {
      if (area.parentElement !== box) box.insertBefore(area, next);
      next = area;
    }
  });
}

function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.firstElementChild;
}

function replaceIn(part, change) {
  const place = $(`part-${part}`), before = highlight.countThings(place);
  const focus = place.contains(document.activeElement) ? document.activeElement : null;
  const typed = [...place.querySelectorAll("input[id]:not([type=hidden], [readonly]), select[id]")].map((field) => [field.id, field.value]);
  const open = [...place.querySelectorAll("details[open][id]")].map((fold) => fold.id);
  change();
  if (before.size) highlight.markNew(place, before); // on the first drawing everything is new, and nothing is marked
  for (const id of open) if ($(id)) $(id).open = true;
  for (const [id, value] of typed) if ($(id)) $(id).value = value;
  if ((focus && !focus.isConnected) || (focusPart === part && document.activeElement === document.body)) {
    const sameElement = focus?.id && $(focus.id);
    focusPart = "";
    if (sameElement) sameElement.focus({ preventScroll: true });
    else {
      // What had the focus is gone: stay near, so that the next key goes on from here.
      const target = place.querySelector(".panel, .areas") ?? place;
      target.tabIndex = -1;
      target.focus({ preventScroll: true });
      if (document.activeElement !== target) focusPart = part;
    }
  }
  if (part === "choices") updateTypedForm();
  if (part === "round") $("main").classList.toggle("held", roundEndOpen());
}

// Whether the end of a round covers the table. It does so for this player alone.
export function roundEndOpen() {
  return Number($("round-end")?.dataset.round ?? 0) > roundSeen;
}

// While the end of a round is shown, the log does not tell of the next one.
function hideNextRound() {
  const from = roundEndOpen() ? Number($("round-end").dataset.line) : Infinity;
  for (const line of $("log").querySelectorAll(roundEndOpen() ? "li[id]" : "[hidden]")) line.hidden = Number(line.id.slice("line-".length)) >= from;
}

function nextRound(event) {
  const card = event.target.closest("#round-end");
  if (!card) return;
  event.preventDefault();
  roundSeen = Number(card.dataset.round);
  $("main").classList.remove("held");
  hideNextRound();
  scrollLog();
  const target = document.querySelector(".panel") ?? $("part-scene");
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
  if (question()) say(question());
  resume();
}

function updateTypedForm() {
  const panel = document.querySelector(".panel");
  if (panel) $("typed-number").value = panel.dataset.number;
  $("typing").hidden = !panel?.classList.contains("live");
  if (panel && panel.dataset.seat !== document.body.dataset.seat) location.reload(); // the player sat down in another window
  $("typed-decision").placeholder = panel?.dataset.asks ?? "";
}

// What a screen reader is told: the note of a first game that teaches, and the question.
function toAnnounce() {
  return [$("lesson-note")?.textContent, question()].filter(Boolean).join(" ");
}

function question() {
  return $("question")?.textContent ?? "";
}

// What the player has to answer now: a question, or the end of a round.
export function openQuestion() {
  return roundEndOpen() ? `round ${$("round-end").dataset.round}` : questionKey();
}

// The same question asked again is a new one.
function questionKey() {
  return `${document.querySelector(".panel")?.dataset.number} ${question()}`;
}

function updateTitle() {
  const yours = document.querySelector(".panel[data-turn='1']");
  const call = yours ? "Your turn" : rematchCall().replace(/\.$/, "");
  document.title = call ? `${call} – ${title.split(" · ")[0]}` : title;
}

// That somebody else wants a rematch, in words.
function rematchCall() {
  return $("rematch-call")?.firstElementChild.textContent ?? "";
}

function scrollLog() {
  const box = $("log-box");
  box.scrollTop = box.scrollHeight;
}

export function say(text) {
  $("said").textContent = text;
}

export function refuse(text) {
  $("refusal").textContent = text;
  if ($("typing").hidden || !$("typing").open) state("note", text);
}

const STATE_TEXTS = {
  lost: "Reconnecting…",
  unsent: "No connection. Your decision will be sent as soon as the server is back.",
  bye: "The server restarts. This page comes back by itself…",
  polling: "The live line is blocked here. This page asks for news every few seconds.",
};

export function state(now, text) {
  const banner = $("banner"), hidden = now === "open" || now === "done";
  if (now === "read") {
    if (banner.dataset.now === "note") state("done");
    return;
  }
  if (now === "open" && banner.dataset.now === "note") return; // a note stays until the player does something
  banner.dataset.now = now;
  banner.hidden = hidden;
  banner.textContent = hidden ? "" : (text ?? STATE_TEXTS[now]);
}

export function showMissed(news) {
  const over = document.querySelector(".result h2")?.textContent;
  state("note", `While you were away: ${over ?? news.slice(-3).join(" ")}`);
}
