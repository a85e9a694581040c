// A queue of frames: events are shown one after another, at a pace that the player sets. The server has decided them already.
const PACE_MS = { normal: 650, fast: 300, off: 0 };
const MAX_QUEUED = 30; // of more frames, the latest is shown at once
const CLICK_GUARD_MS = 400; // a new question takes no click that was meant for what was there before
const RELOAD_AFTER_MS = 3000;
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");
const $ = (id) => document.getElementById(id);
let showFrame, isPaused, timer = 0, lastShown = -Infinity, lastClick = -Infinity, guardTimer = 0;
let queue = [];

// `show` puts one frame into the page, `paused` says whether the page waits for the player to go on.
export function begin(show, paused) {
  showFrame = show;
  isPaused = paused;
  document.addEventListener("click", click, true);
  document.addEventListener("keydown", keydown, true);
  document.addEventListener("visibilitychange", () => document.hidden && flush());
  const field = $("pace");
  field.value = savedPace();
  field.closest("[hidden]").hidden = false;
  field.addEventListener("change", () => {
    try {
      localStorage.setItem("piste-pace", field.value);
    } catch {
      // Some browsers store nothing. Then the choice holds until the page is left.
    }
    if (!pace()) flush();
  });
  guardClicks();
}

// A player sees a new game dealt; after a reload, its current state.
export function showsDeal() {
  const { code, deal } = document.body.dataset;
  let newGame = Boolean(deal) && pace() > 0 && !document.hidden;
  try {
    newGame &&= sessionStorage.getItem("piste-dealt") !== code;
    sessionStorage.setItem("piste-dealt", code);
  } catch {
    newGame = false;
  }
  if (!newGame) {
    delete document.body.dataset.deal;
    return false;
  }
  for (const part of ["status", "round", "scene", "choices", "offers", "fair"]) $(`part-${part}`).replaceChildren();
  $("log").replaceChildren();
  setTimeout(() => document.body.dataset.deal && location.reload(), RELOAD_AFTER_MS);
  return true;
}

export function add(frames, immediately) {
  queue.push(...frames);
  if (immediately || !pace() || document.hidden || queue.length > MAX_QUEUED) flush();
  else next();
}

export function resume() {
  guardClicks();
  next();
}

function next() {
  if (timer || !queue.length || isPaused()) return;
  const lines = queue[0].log ?? [], now = performance.now();
  // What the player decided, and what is no event, is shown at once.
  const wait = queue[0].event && !lines.some(([, kind]) => kind === "own") ? lastShown + pace() - now : 0;
  if (wait > 0) {
    timer = setTimeout(() => {
      timer = 0;
      show();
    }, wait);
  } else show();
}

function show() {
  const frame = queue.shift();
  if (frame.event) lastShown = performance.now();
  showFrame(frame);
  next();
}

// Show the latest at once.
function flush() {
  clearTimeout(timer);
  timer = 0;
  if (!queue.length) return;
  const all = queue;
  queue = [];
  lastShown = performance.now();
  showFrame(all.reduce(merged));
}

// Two frames as one. Areas that stayed are numbered as in the frame before, unless that brought the whole table.
function merged(one, next) {
  const whole = next.parts?.scene !== undefined;
  const areas = whole || !one.areas ? next.areas : next.areas?.map((area) => (typeof area === "number" ? one.areas[area] : area)) ?? one.areas;
  return { parts: { ...one.parts, ...next.parts }, areas, log: [...(one.log ?? []), ...(next.log ?? [])] };
}

export function guardClicks() {
  const main = $("main");
  main.classList.add("click-guard");
  clearTimeout(guardTimer);
  guardTimer = setTimeout(() => main.classList.remove("click-guard"), CLICK_GUARD_MS);
}

function savedPace() {
  let saved = "";
  try {
    saved = localStorage.getItem("piste-pace") ?? "";
  } catch {
    // Then the default.
  }
  return saved in PACE_MS ? saved : reducedMotion.matches ? "off" : "normal";
}

const pace = () => PACE_MS[$("pace").value];

// A click beside all buttons, or a key, skips the queue. The second half of a double click does not.
function click(event) {
  const before = lastClick;
  lastClick = performance.now();
  if (queue.length && !isPaused() && event.detail && lastClick - before > CLICK_GUARD_MS && event.target.closest(".status, .scene, .panel")) flush();
}

function keydown(event) {
  if (event.repeat && (event.key === "Enter" || event.key === " ") && event.target.closest("#main")) {
    event.preventDefault(); // a key that is held down decides once
    event.stopPropagation();
  } else if (queue.length && !isPaused() && /^(Enter| |Escape|\d)$/.test(event.key) && !event.target.closest("button, a, summary, input, select, textarea")) {
    event.preventDefault();
    event.stopPropagation();
    flush();
  }
}
