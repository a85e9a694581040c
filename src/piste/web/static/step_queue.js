// What happens is shown one event after another, at a pace that the player sets. The server has decided all of it already.
const PACES = { normal: 650, fast: 300, off: 0 };
const MOST = 30; // of more that wait, the latest is shown at once
const CALM = 400; // so long a new question takes no click that was meant for what stood there before
const NO_LINE = 3000;
const still = matchMedia("(prefers-reduced-motion: reduce)");
const $ = (id) => document.getElementById(id);
let put, held, later = 0, last = -Infinity, clicked = -Infinity, calming = 0;
let waiting = [];

// `show` puts one frame into the page, `stopped` says whether the page waits for the player to go on.
export function begin(show, stopped) {
  put = show;
  held = stopped;
  document.addEventListener("click", click, true);
  document.addEventListener("keydown", keydown, true);
  document.addEventListener("visibilitychange", () => document.hidden && flush());
  const field = $("pace");
  field.value = chosen();
  field.closest("[hidden]").hidden = false;
  field.addEventListener("change", () => {
    try {
      localStorage.setItem("piste-pace", field.value);
    } catch {
      // Some browsers keep nothing. Then it holds until the page is left.
    }
    if (!pace()) flush();
  });
  calm();
}

// Whoever comes to a new game sees it dealt; whoever comes again sees how it stands.
export function deals() {
  const { code, deal } = document.body.dataset;
  let fresh = Boolean(deal) && pace() > 0 && !document.hidden;
  try {
    fresh &&= sessionStorage.getItem("piste-dealt") !== code;
    sessionStorage.setItem("piste-dealt", code);
  } catch {
    fresh = false;
  }
  if (!fresh) {
    delete document.body.dataset.deal;
    return false;
  }
  for (const part of ["status", "round", "scene", "choices", "offers", "fair"]) $(`part-${part}`).replaceChildren();
  $("log").replaceChildren();
  setTimeout(() => document.body.dataset.deal && location.reload(), NO_LINE);
  return true;
}

export function add(frames, atOnce) {
  waiting.push(...frames);
  if (atOnce || !pace() || document.hidden || waiting.length > MOST) flush();
  else next();
}

export function goOn() {
  calm();
  next();
}

function next() {
  if (later || !waiting.length || held()) return;
  const told = waiting[0].log ?? [], now = performance.now();
  // What the player decided, and what is no event, is shown at once.
  const wait = told.length && !told.some(([, kind]) => kind === "own") ? last + pace() - now : 0;
  if (wait > 0) {
    later = setTimeout(() => {
      later = 0;
      show();
    }, wait);
  } else show();
}

function show() {
  const frame = waiting.shift();
  if (frame.log?.length) last = performance.now();
  put(frame);
  next();
}

// Show the latest at once.
function flush() {
  clearTimeout(later);
  later = 0;
  if (!waiting.length) return;
  const all = waiting;
  waiting = [];
  last = performance.now();
  put({ parts: Object.assign({}, ...all.map((one) => one.parts)), log: all.flatMap((one) => one.log ?? []) });
}

export function calm() {
  const main = $("main");
  main.classList.add("calm");
  clearTimeout(calming);
  calming = setTimeout(() => main.classList.remove("calm"), CALM);
}

function chosen() {
  let found = "";
  try {
    found = localStorage.getItem("piste-pace") ?? "";
  } catch {
    // Then as usual.
  }
  return found in PACES ? found : still.matches ? "off" : "normal";
}

const pace = () => PACES[$("pace").value];

// A click beside everything to press, or a key, skips what is still to be shown. The second half of a double click does not.
function click(event) {
  const before = clicked;
  clicked = performance.now();
  if (waiting.length && !held() && event.detail && clicked - before > CALM && event.target.closest(".status, .scene, .panel")) flush();
}

function keydown(event) {
  if (event.repeat && (event.key === "Enter" || event.key === " ") && event.target.closest("#main")) {
    event.preventDefault(); // a key that is held down decides once
    event.stopPropagation();
  } else if (waiting.length && !held() && /^(Enter| |Escape|\d)$/.test(event.key) && !event.target.closest("button, a, summary, input, select, textarea")) {
    event.preventDefault();
    event.stopPropagation();
    flush();
  }
}
