// Starts what a page needs. The address of this file carries the version of all files; it is handed on to the others.
const version = new URL(import.meta.url).search;
const load = (name) => import(`./${name}.js${version}`);

document.documentElement.classList.add("js");
const page = document.body.dataset.page;
const pageExtras = await load("page_extras");
pageExtras.begin();

if (page === "table") {
  const modules = ["dom", "decision_input", "socket", "step_queue"];
  const [dom, decisionInput, socket, stepQueue] = await Promise.all(modules.map(load));
  let back = false; // what comes now was missed
  stepQueue.begin((frame) => {
    const asked = dom.asks();
    const news = dom.take(frame);
    if (frame.parts) {
      decisionInput.refresh();
      pageExtras.refresh();
    }
    if (dom.asks() !== asked) stepQueue.calm();
    if (back && news.length) dom.away(news);
  }, dom.held);
  const { code, at, step } = document.body.dataset;
  const line = new socket.Line(code, ...(stepQueue.deals() ? [0, 0] : [at, step]), {
    hear(message, missed) {
      back = missed;
      if (message.said) dom.say(message.said);
      if (message.parts || message.log) stepQueue.add([...(message.steps ?? []), message], missed);
      back = false;
    },
    state: dom.state,
  });
  decisionInput.begin(line, dom);
  decisionInput.refresh();
  dom.begin(stepQueue.goOn);
  line.open();
} else if (page === "replay") {
  (await load("replay")).begin();
}
document.documentElement.classList.add("ready"); // keys and buttons are heard from now on; before, forms are
