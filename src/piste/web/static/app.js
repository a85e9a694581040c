// Starts what a page needs. The address of this file carries the version of all files; it is handed on to the others.
const version = new URL(import.meta.url).search;
const load = (name) => import(`./${name}.js${version}`);

document.documentElement.classList.add("js");
const page = document.body.dataset.page;
const pageExtras = await load("page_extras");
pageExtras.begin();
if (page === "table" || page === "replay") (await load("card_tips")).begin();

if (page === "table") {
  const modules = ["dom", "decision_input", "socket", "step_queue", "alerts"];
  const [dom, decisionInput, socket, stepQueue, alerts] = await Promise.all(modules.map(load));
  let missedNews = false; // the current message was sent while we were disconnected
  let lastStep = -1;
  stepQueue.begin((frame) => {
    const before = dom.openQuestion(), seen = alerts.look();
    const news = dom.applyMessage(frame);
    if (frame.parts) {
      decisionInput.refresh();
      pageExtras.refresh();
    }
    if (dom.openQuestion() !== before) stepQueue.guardClicks();
    if (missedNews && news.length) dom.showMissed(news);
    alerts.call(seen, alerts.look(), news.length);
  }, dom.roundEndOpen);
  const { code, at, step } = document.body.dataset;
  const connection = new socket.Connection(code, ...(stepQueue.showsDeal() ? [0, 0] : [at, step]), {
    hear(message, missed) {
      missedNews = missed;
      if (message.said) dom.say(message.said);
      const event = message.step > lastStep; // else nothing happened in the game
      lastStep = Math.max(lastStep, message.step ?? -1);
      const steps = (message.steps ?? []).map((one) => ({ ...one, event: true }));
      if (message.parts || message.log) stepQueue.add([...steps, { ...message, event }], missed);
      missedNews = false;
    },
    state: dom.state,
  });
  decisionInput.begin(connection, dom);
  decisionInput.refresh();
  dom.begin(stepQueue.resume);
  alerts.begin();
  connection.open();
} else if (page === "replay") {
  (await load("replay")).begin();
} else if (page === "study") {
  await (await load("study")).begin(load);
}
document.documentElement.classList.add("ready"); // from now on scripts handle keys and buttons; before, forms do
