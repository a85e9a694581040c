// A game shown again: from step to step without loading the page anew.
const $ = (id) => document.getElementById(id);
const { code, seat, steps } = document.body.dataset;
const last = Number(steps);
const POLL_INTERVAL_MS = 2000; // between two requests for the coach's progress
let currentHtml = "";
let step = Number(document.body.dataset.step), wanted = step;

export function begin() {
  $("slider").disabled = false;
  $("slider").addEventListener("input", () => go(Number($("slider").value)));
  $("eyes").addEventListener("change", () => $("eyes").form.requestSubmit());
  document.addEventListener("click", click);
  document.addEventListener("keydown", keydown);
  if (document.body.dataset.looking) setTimeout(pollReview, POLL_INTERVAL_MS);
}

function click(event) {
  const link = event.target.closest("[data-step]:not(body)"), plot = event.target.closest(".plot svg");
  if (link) {
    event.preventDefault();
    go(Number(link.dataset.step));
  } else if (plot) {
    const box = plot.getBoundingClientRect();
    go(Math.round(((event.clientX - box.left) / box.width) * last));
  }
}

function keydown(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select")) return;
  const to = { ArrowLeft: step - 1, ArrowRight: step + 1, Home: 0, End: last }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  go(to);
}

async function go(to) {
  wanted = Math.max(0, Math.min(last, to));
  const asked = wanted;
  const text = await fetchStep(asked);
  if (text === null) return location.assign(address(asked));
  if (asked !== wanted) return; // a later step was asked for meanwhile
  show(asked, text);
}

function show(to, text) {
  replaceStep(to, text);
  $("said").textContent = [...$("part-replay").querySelectorAll(".where, .said-then li, .coach")].map((one) => one.textContent).join(". ");
}

function replaceStep(to, text) {
  const place = $("part-replay"), focus = document.activeElement?.id, open = $("named")?.open;
  step = to;
  currentHtml = text;
  place.innerHTML = text;
  if (open && $("named")) $("named").open = true;
  if (focus && place.contains($(focus))) $(focus).focus({ preventScroll: true });
  $("slider").value = to;
  $("eyes-step").value = to;
  history.replaceState(null, "", address(to));
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

async function pollReview() {
  const at = step, text = await fetchStep(at);
  const current = text !== null && wanted === at && step === at, done = text !== null && !text.includes('id="looking"');
  if (current && done) return show(at, text);
  if (current && text !== currentHtml) replaceStep(at, text); // the review so far; screen readers are not told
  setTimeout(pollReview, POLL_INTERVAL_MS);
}
