// Starts what a page needs. The address of this file carries the version of all files; it is handed on to the others.
const version = new URL(import.meta.url).search;
const load = (name) => import(`./${name}.js${version}`);

document.documentElement.classList.add("js");
const page = document.body.dataset.page;
const extras = await load("extras");
extras.begin();

if (page === "table") {
  const [parts, choose, socket] = await Promise.all(["parts", "choose", "socket"].map(load));
  const line = new socket.Line(document.body.dataset.code, document.body.dataset.at, {
    hear(message, back) {
      const news = parts.take(message);
      if (message.parts) {
        choose.refresh();
        extras.refresh();
      }
      if (message.said) parts.say(message.said);
      if (back && news.length) parts.away(news);
    },
    state: parts.state,
  });
  choose.begin(line, parts);
  choose.refresh();
  parts.begin();
  line.open();
} else if (page === "replay") {
  (await load("replay")).begin();
}
document.documentElement.classList.add("ready"); // keys and buttons are heard from now on; before, forms are
