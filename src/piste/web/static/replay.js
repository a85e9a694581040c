// A game shown again: from step to step without loading the page anew, and by itself.
const $ = (id) => document.getElementById(id);
const { code, seat, steps } = document.body.dataset;
const first = Number(document.body.dataset.first), last = Number(steps);
const POLL_INTERVAL_MS = 2000; // between two requests for the coach's progress
const POLLS_AT_FIRST = 2; // a review that is there by then still opens where most was lost
const PLAY_INTERVAL_MS = 1400, SLOW_INTERVAL_MS = 4000; // between two steps that come by themselves
const seen = new Map(); // steps that were fetched, once the coach is done
let step = Number(document.body.dataset.step), wanted = step, currentHtml = "";
let looking = Boolean(document.body.dataset.looking), moved = location.search.includes("step=");
let polls = 0;
let timer = 0; // of the step that comes next by itself; 0 while nothing plays

export function begin() {
  $("slider").disabled = $("play").hidden = false;
  $("slider").addEventListener("input", () => move(Number($("slider").value)));
  $("play").addEventListener("click", () => (timer ? pause() : play()));
  document.addEventListener("click", click);
  document.addEventListener("keydown", keydown);
  document.addEventListener("visibilitychange", () => document.hidden && pause());
  if (looking) setTimeout(pollReview, POLL_INTERVAL_MS);
}

const targets = () => ({ first, previous: step - 1, next: step + 1, last });

function click(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  const link = event.target.closest("a[data-step]"), button = event.target.closest("a[id^=go-]"), plot = event.target.closest(".plot svg");
  if (link || button) event.preventDefault();
  if (link) move(Number(link.dataset.step)).then(() => $("main").scrollIntoView()); // it stands far below the table
  else if (button) move(targets()[button.id.slice(3)]);
  else if (plot) {
    const box = plot.getBoundingClientRect();
    move(first + Math.round(((event.clientX - box.left) / box.width) * (last - first)));
  }
}

function keydown(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  if (event.key === " " && !event.target.closest("a, button, summary")) {
    event.preventDefault();
    return timer ? pause() : play();
  }
  const to = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: first, End: last }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  move(to);
}

// A step that somebody asked for: nothing comes by itself any more.
function move(to) {
  pause();
  moved = true;
  return go(to);
}

function play() {
  moved = true;
  showPlaying(true);
  const interval = matchMedia("(prefers-reduced-motion: reduce)").matches ? SLOW_INTERVAL_MS : PLAY_INTERVAL_MS;
  const next = async () => {
    if (step < last) await go(step + 1);
    if (timer && step < last) timer = setTimeout(next, interval);
    else pause();
  };
  timer = setTimeout(async () => {
    if (step >= last) await go(first);
    else return next();
    if (timer) timer = setTimeout(next, interval);
  });
}

function pause() {
  clearTimeout(timer);
  timer = 0;
  showPlaying(false);
}

function showPlaying(playing) {
  const button = $("play");
  button.setAttribute("aria-pressed", playing);
  button.querySelector(".word").textContent = playing ? "Pause" : "Play";
}

async function go(to) {
  wanted = Math.max(first, Math.min(last, to));
  const asked = wanted;
  const text = seen.get(asked) ?? (await fetchStep(asked));
  if (text === null) return location.assign(address(asked));
  if (asked !== wanted) return; // a later step was asked for meanwhile
  show(asked, text);
}

function show(to, text) {
  replaceStep(to, text);
  $("said").textContent = [...document.querySelectorAll("#where, .said-then li, .coach")].map((one) => one.textContent).join(". ");
}

function replaceStep(to, text) {
  const focus = document.activeElement?.id, open = $("named")?.open;
  const page = new DOMParser().parseFromString(text, "text/html");
  step = to;
  currentHtml = text;
  if (!looking) seen.set(to, text);
  for (const part of ["part-board", "part-moment"]) $(part).innerHTML = page.getElementById(part).innerHTML;
  if (open && $("named")) $("named").open = true;
  if (focus && document.activeElement === document.body && $(focus)) $(focus).focus({ preventScroll: true });
  $("slider").value = to;
  $("where").textContent = `Step ${to - first} of ${last - first}`;
  for (const [name, target] of Object.entries(targets())) $(`go-${name}`).href = address(Math.max(first, Math.min(last, target)));
  if (moved) history.replaceState(null, "", address(to));
}

const address = (to) => `/t/${code}/replay?seat=${seat}&step=${to}`;

async function fetchStep(to) {
  try {
    const answer = await fetch(`${address(to)}&part=1`);
    return answer.ok ? await answer.text() : null;
  } catch {
    return null;
  }
}

// A verdict that comes while its place is looked at gets no more room than was kept for it, until somebody asks.
function keepPlace() {
  const coach = document.querySelector(".coach");
  coach.classList.add("brief");
  if (coach.scrollHeight <= coach.clientHeight) return coach.classList.remove("brief");
  const button = document.createElement("button");
  button.className = "link";
  button.textContent = "Read on";
  button.addEventListener("click", () => {
    coach.classList.remove("brief");
    button.remove();
  });
  coach.append(button);
}

async function pollReview() {
  const at = step, text = await fetchStep(at);
  polls += 1;
  looking = text === null || text.includes('id="looking"');
  if (text !== null && wanted === at && step === at) {
    const kept = document.querySelector(".coach:is(.pending, .brief)");
    if (!looking) {
      show(at, text);
      if (kept) keepPlace();
      const costliest = document.querySelector(".summary a[data-step]");
      // Later, or once somebody has stepped or scrolled, the page stays where it is: the summary has the link.
      if (costliest && !moved && polls <= POLLS_AT_FIRST && !scrollY) return go(Number(costliest.dataset.step));
      return;
    }
    if (text !== currentHtml) {
      replaceStep(at, text); // the review so far; screen readers are not told
      if (kept) keepPlace();
    }
  }
  if (looking) setTimeout(pollReview, POLL_INTERVAL_MS);
}
