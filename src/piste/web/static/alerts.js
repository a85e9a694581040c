// Calls a player: sounds and vibration where they are switched on, and a notification while the page is hidden.
const $ = (id) => document.getElementById(id);
const SETTINGS = { sound: "piste-sound", buzz: "piste-buzz", notify: "piste-notify" };
// Each tone: its frequency in Hz, when it begins and how long it lasts, in seconds.
const TUNES = {
  move: [[330, 0, 0.06]],
  turn: [[587, 0, 0.12], [880, 0.12, 0.2]],
  won: [[523, 0, 0.14], [659, 0.14, 0.14], [784, 0.28, 0.35]],
  lost: [[392, 0, 0.2], [294, 0.2, 0.4]],
  over: [[440, 0, 0.3]],
};
const LOUDNESS = 0.15;
const gameTitle = document.querySelector("h1")?.textContent ?? "";
const tag = `piste-${document.body.dataset.code}`;
let audio;

export function begin() {
  $("alerts").hidden = false;
  $("sound-on").checked = isOn("sound");
  $("buzz-on").checked = isOn("buzz");
  $("buzz-on").closest("p").hidden = !navigator.vibrate || !matchMedia("(hover: none)").matches;
  $("sound-on").addEventListener("change", ({ target }) => set("sound", target.checked) && play("turn"));
  $("buzz-on").addEventListener("change", ({ target }) => set("buzz", target.checked) && vibrate(80));
  $("notify-on").addEventListener("change", askPermission);
  showNotify();
  document.addEventListener("visibilitychange", () => document.hidden || closeNotifications());
}

// What a table asks of its player, to be compared before and after news.
export function look() {
  const panel = document.querySelector(".panel"), result = document.querySelector(".result")?.classList;
  return {
    turn: panel?.dataset.turn === "1" ? panel.dataset.number : "",
    outcome: result ? ["won", "lost"].find((one) => result.contains(one)) ?? "over" : "",
    rematch: $("rematch-call")?.firstElementChild.textContent ?? "",
    begun: !document.querySelector(".waiting, .sit"),
  };
}

export function call(before, after, news) {
  if (after.outcome && !before.outcome) {
    play(after.outcome);
    vibrate([80, 60, 80]);
    notify(`Game over – ${gameTitle}`);
  } else if (after.turn && after.turn !== before.turn) {
    play("turn");
    vibrate(80);
    notify(`Your turn – ${gameTitle}`);
  } else if (after.rematch && !before.rematch) {
    play("turn");
    notify(`${after.rematch.replace(/\.$/, "")} – ${gameTitle}`);
  } else if (after.begun && !before.begun) {
    play("turn");
    notify(`The game begins – ${gameTitle}`);
  } else if (news) play("move");
}

function play(name) {
  // Browsers let a page sound only after its user has done something there.
  if (!isOn("sound") || !navigator.userActivation?.hasBeenActive || !window.AudioContext) return;
  audio ??= new AudioContext();
  audio.resume();
  for (const [frequency, begin, length] of TUNES[name]) {
    const tone = audio.createOscillator(), volume = audio.createGain(), start = audio.currentTime + begin;
    tone.type = "triangle";
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(LOUDNESS, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + length);
    tone.connect(volume).connect(audio.destination);
    tone.start(start);
    tone.stop(start + length);
  }
}

function vibrate(pattern) {
  if (isOn("buzz") && navigator.userActivation?.hasBeenActive) navigator.vibrate?.(pattern);
}

// Nothing of the game but its name: a notification may stand on a locked screen.
async function notify(title) {
  if (!document.hidden || document.body.dataset.seat < 0 || !isOn("notify") || whyNot()) return;
  const options = { tag, icon: "/static/icons/192.png", data: { address: location.pathname } };
  const worker = await navigator.serviceWorker?.getRegistration();
  if (worker) return worker.showNotification(title, options); // phones take none from a page itself
  new Notification(title, options).onclick = () => focus();
}

async function closeNotifications() {
  const worker = await navigator.serviceWorker?.getRegistration();
  for (const one of (await worker?.getNotifications({ tag })) ?? []) one.close();
}

async function askPermission({ target }) {
  set("notify", target.checked);
  if (target.checked && Notification.permission === "default") await Notification.requestPermission();
  showNotify();
}

function showNotify() {
  const why = whyNot(), field = $("notify-on");
  field.checked = isOn("notify") && !why;
  field.disabled = Boolean(why) && why !== NOT_ASKED;
  $("notify-why").textContent = why === NOT_ASKED ? "" : why;
}

const NOT_ASKED = "not asked";

function whyNot() {
  if (!isSecureContext) return "No notifications here: browsers allow them only on a secure page (https). Sounds and the title of this tab still call you.";
  if (!("Notification" in window)) return "This browser has no notifications. On a phone, adding this site to the home screen may bring them.";
  if (Notification.permission === "denied") return "Your browser blocks notifications of this site. You can allow them in its settings for this site.";
  return Notification.permission === "granted" ? "" : NOT_ASKED;
}

function isOn(what) {
  try {
    return localStorage.getItem(SETTINGS[what]) === "on";
  } catch {
    return false; // some browsers store nothing
  }
}

function set(what, on) {
  try {
    localStorage.setItem(SETTINGS[what], on ? "on" : "off");
  } catch {
    // Then it stays off.
  }
  return on;
}
