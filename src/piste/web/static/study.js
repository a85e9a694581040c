// Puzzles, progress and the analysis board: a puzzle's card is chosen and confirmed as at a table, and a page that
// waits for the server shows the result by itself.
const $ = (id) => document.getElementById(id);
const POLL_INTERVAL_MS = 1500;

export async function begin(load) {
  if (document.body.dataset.pending) setTimeout(poll, POLL_INTERVAL_MS);
  if (!$("typed") || !$("decide")) return;
  const input = await load("decision_input");
  const say = (text) => { $("said").textContent = text; };
  input.begin({ ask: send }, { say, refuse() {}, state() {}, roundEndOpen: () => false });
  input.refresh();
}

// The answer goes as a form does, and the server's page follows.
function send({ decision }) {
  const form = $("decide"), field = document.createElement("input");
  Object.assign(field, { type: "hidden", name: "decision", value: decision });
  form.append(field);
  form.submit();
}

async function poll() {
  try {
    const answer = await fetch(location.href), text = await answer.text();
    const page = new DOMParser().parseFromString(text, "text/html");
    if (!answer.ok || !page.body.dataset.pending) return location.reload();
    const far = $("far"), now = page.getElementById("far");
    if (far && now) far.value = now.value;
    else if (page.querySelector("#main").innerHTML !== $("main").innerHTML && !document.querySelector("details[open]")) $("main").innerHTML = page.querySelector("#main").innerHTML;
  } catch {
    // The server is away: ask again.
  }
  setTimeout(poll, POLL_INTERVAL_MS);
}
