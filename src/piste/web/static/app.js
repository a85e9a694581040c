// Starts what a page needs. The address of this file carries the version of all files; it is handed on to the others.
const version = new URL(import.meta.url).search;
const load = (name) => import(`./${name}.js${version}`);

document.documentElement.classList.add("js");
const page = document.body.dataset.page;
const extras = await load("extras");
extras.begin();

if (page === "table") {
  const [parts, choose, socket, staging] = await Promise.all(["parts", "choose", "socket", "staging"].map(load));
  let back = false; // what comes now was missed
  staging.begin((frame) => {
    const asked = parts.asks();
    const news = parts.take(frame);
    if (frame.parts) {
      choose.refresh();
      extras.refresh();
    }
    if (parts.asks() !== asked) staging.calm();
    if (back && news.length) parts.away(news);
  }, parts.held);
  const { code, at, step } = document.body.dataset;
  const line = new socket.Line(code, ...(staging.deals() ? [0, 0] : [at, step]), {
    hear(message, missed) {
      back = missed;
      if (message.said) parts.say(message.said);
      if (message.parts || message.log) staging.add([...(message.steps ?? []), message], missed);
      back = false;
    },
    state: parts.state,
  });
  choose.begin(line, parts);
  choose.refresh();
  parts.begin(staging.goOn);
  line.open();
} else if (page === "replay") {
  (await load("replay")).begin();
}
document.documentElement.classList.add("ready"); // keys and buttons are heard from now on; before, forms are
