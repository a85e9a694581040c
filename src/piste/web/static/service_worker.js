// Shows a page of its own when the server cannot be reached, and brings a player back from a notification.
// Tables and all other pages always come from the server; only the offline page and what it is made of are kept.
const version = new URL(location.href).search;
const CACHE = `piste-offline${version}`;
const KEPT = ["/offline", ...["style.css", "app.js", "page_extras.js", "favicon.svg"].map((name) => `/static/${name}${version}`)];

addEventListener("install", (event) => {
  skipWaiting();
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(KEPT)));
});

addEventListener("activate", (event) => {
  event.waitUntil(caches.keys().then((keys) => Promise.all(keys.filter((key) => key !== CACHE).map((key) => caches.delete(key)))));
});

addEventListener("fetch", (event) => {
  const { pathname, search } = new URL(event.request.url);
  if (event.request.mode === "navigate" && event.request.method === "GET") event.respondWith(fetch(event.request).catch(() => caches.match("/offline")));
  else if (KEPT.includes(pathname + search)) event.respondWith(fetch(event.request).catch(() => caches.match(event.request)));
});

addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { address } = event.notification.data;
  event.waitUntil(
    clients.matchAll({ type: "window" }).then((pages) => {
      const open = pages.find((page) => new URL(page.url).pathname === address);
      return open ? open.focus() : clients.openWindow(address);
    }),
  );
});
