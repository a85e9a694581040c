// The connection to the server: a websocket that reconnects by itself, or polling where that is blocked.
const POLL_INTERVAL_MS = 3000;
const PING_INTERVAL_MS = 20000;

export class Connection {
  constructor(code, at, step, { hear, state }) {
    Object.assign(this, { code, at: Number(at), step: Number(step), hear, state });
    this.waiting = new Map(); // asked and not answered yet; asked again after a break, with the same id
    this.made = 0;
    this.mine = Math.random().toString(36).slice(2, 10);
    this.fails = 0;
    this.polling = false;
    this.broken = false; // the connection was lost: what comes next was missed
    addEventListener("online", () => this.now());
    addEventListener("pageshow", (event) => event.persisted && this.now());
    addEventListener("offline", () => this.away());
    addEventListener("pagehide", () => { this.leaving = true; });
    document.addEventListener("visibilitychange", () => document.hidden || this.now());
  }

  open() {
    clearTimeout(this.later);
    if (this.socket && this.socket.readyState < 2) return;
    this.leaving = false;
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/t/${this.code}/socket?since=${this.at}&step=${this.step}&areas=1`);
    this.socket = socket;
    this.heard = 0;
    this.good = false; // it has brought news, and not only a refusal
    this.why = "";
    socket.onmessage = (event) => socket === this.socket && this.got(JSON.parse(event.data));
    socket.onclose = () => socket === this.socket && this.lost();
  }

  now() {
    if (this.leaving && !this.socket) return;
    if (!this.socket || this.socket.readyState > 1) this.open();
    else this.ping(); // after sleep, find out whether the connection lives
  }

  got(message) {
    if (message.n !== this.heard + 1) return this.socket.close();
    this.heard = message.n;
    if (message.parts && !this.good) this.begun();
    if (message.ok === false && message.re === undefined) this.why = message.said;
    clearTimeout(this.watch);
    if (message.bye) {
      this.said = "bye";
      this.state("bye");
    }
    this.read(message);
  }

  begun() {
    this.good = true;
    this.fails = 0;
    this.polling = false;
    clearTimeout(this.poll);
    this.state("open");
    for (const request of this.waiting.values()) this.send(request);
    clearInterval(this.pings);
    this.pings = setInterval(() => this.ping(), PING_INTERVAL_MS);
  }

  ping() {
    if (this.socket.readyState !== 1) return;
    this.socket.send(JSON.stringify({ id: `${this.mine}-ping`, do: "ping" }));
    // A connection that never answered a ping is not taken for dead.
    clearTimeout(this.watch);
    if (this.answers) this.watch = setTimeout(() => this.drop(), PING_INTERVAL_MS / 2);
  }

  // On a dead connection the close event may never come, so it is not waited for.
  drop() {
    const dead = this.socket;
    this.socket = null;
    dead.close();
    this.lost();
  }

  read(message) {
    if (message.re !== undefined) {
      if (String(message.re).endsWith("-ping")) {
        this.answers = true;
        if (!this.polling) this.state("open"); // it was only a short interruption
        for (const unsent of this.waiting.values()) if (!unsent.sent) this.send(unsent);
      }
      const request = this.waiting.get(message.re);
      this.waiting.delete(message.re);
      request?.done?.(message);
    }
    if (message.gone) return location.reload();
    if (message.at !== undefined) [this.at, this.step] = [message.at, message.step];
    if (message.parts || message.log || message.said) {
      const back = this.broken;
      this.broken = false;
      this.hear(message.re === undefined ? message : { ...message, said: "" }, back);
    }
  }

  lost() {
    clearInterval(this.pings);
    clearTimeout(this.watch);
    if (this.leaving) return;
    if (this.good) this.broken = true;
    else this.fails += 1;
    if (!this.polling && (this.said !== "bye" || this.fails || this.unsent())) this.away();
    this.said = "";
    if (this.fails >= 3 && !this.polling) {
      this.polling = true;
      this.news();
    }
    const wait = this.polling ? 30000 : Math.min(15000, 500 * 2 ** this.fails);
    this.later = setTimeout(() => this.open(), wait * (0.5 + Math.random()));
  }

  // The server cannot be reached: say so, and what becomes of a decision that was made meanwhile.
  away() {
    if (this.unsent()) this.state("unsent");
    else this.state("lost", this.why || undefined);
  }

  unsent() {
    return [...this.waiting.values()].some((request) => request.do === "decide");
  }

  async news() {
    if (!this.polling) return;
    try {
      const answer = await fetch(`/t/${this.code}/news?since=${this.at}&step=${this.step}`, { headers: { Accept: "application/json" } });
      if (answer.status === 404) return location.reload();
      if (answer.ok) {
        if (this.down) this.open(); // the server is there again: perhaps sockets are, too
        else this.state("polling");
        this.down = false;
        this.read(await answer.json());
        for (const request of this.waiting.values()) this.post(request);
      }
    } catch {
      this.down = true;
      this.away();
    }
    clearTimeout(this.poll); // a decision may have asked for news meanwhile
    this.poll = setTimeout(() => this.news(), POLL_INTERVAL_MS);
  }

  ask(request, done) {
    this.made += 1;
    const id = `${this.mine}-${this.made}`;
    const whole = { id, ...request };
    Object.defineProperties(whole, { done: { value: done }, sent: { value: false, writable: true } }); // are not sent
    const sent = this.polling ? !this.down : this.socket?.readyState === 1 && navigator.onLine;
    if (!sent && request.do === "decide") {
      // Of decisions that were made while the server is away, the last one is meant.
      for (const [old, { do: what }] of this.waiting) if (what === "decide") this.waiting.delete(old);
    }
    this.waiting.set(id, whole);
    if (!sent) this.away();
    else if (this.polling) this.post(whole);
    else this.send(whole);
  }

  send(request) {
    request.sent = true;
    this.socket.send(JSON.stringify(request));
  }

  async post(request) {
    const { id, do: what, ...fields } = request;
    try {
      const answer = await fetch(`/t/${this.code}/${what}`, {
        method: "POST",
        headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams(fields),
      });
      if (this.waiting.has(id)) this.read({ ...(await answer.json()), re: id });
      clearTimeout(this.poll);
      this.poll = setTimeout(() => this.news(), 200);
    } catch {
      this.away(); // it stays among those that wait, and is sent again with the next news
    }
  }
}
