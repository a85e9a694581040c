// What a card does, beside the card: when it is pointed at, focused, or pressed for a while.
const LONG_PRESS_MS = 450;
const tip = document.createElement("p");
let timer = 0, pressed = false;

export function begin() {
  tip.className = "tip";
  tip.setAttribute("aria-hidden", "true"); // the card says the same to screen readers
  tip.hidden = true;
  document.body.append(tip);
  document.addEventListener("pointerover", (event) => event.pointerType === "mouse" && show(cardAt(event)));
  document.addEventListener("focusin", (event) => event.target.matches(":focus-visible") && show(cardAt(event)));
  document.addEventListener("focusout", () => show(null));
  document.addEventListener("pointerdown", down);
  for (const end of ["pointerup", "pointercancel", "scroll"]) document.addEventListener(end, up, true);
  document.addEventListener("contextmenu", (event) => pressed && event.preventDefault(), true);
  document.addEventListener("click", click, true);
  document.addEventListener("keydown", (event) => event.key === "Escape" && show(null));
}

const cardAt = (event) => event.target.closest?.(".card.able") ?? null;

function down(event) {
  pressed = false;
  clearTimeout(timer);
  const card = event.pointerType === "mouse" ? null : cardAt(event);
  show(null);
  if (card) timer = setTimeout(() => {
    pressed = true;
    show(card);
  }, LONG_PRESS_MS);
}

function up() {
  clearTimeout(timer);
}

// The click that ends a long press chooses nothing.
function click(event) {
  if (!pressed) {
    const card = cardAt(event);
    if (card && !card.matches("button")) show(card); // a card that cannot be chosen says what it does, and why not
    return;
  }
  pressed = false;
  event.preventDefault();
  event.stopPropagation();
}

function show(card) {
  const text = card && (card.dataset.tip ?? card.title);
  tip.hidden = !text;
  if (!text) return;
  card.dataset.tip = text;
  card.removeAttribute("title"); // or the browser shows it a second time
  tip.textContent = text;
  const at = card.getBoundingClientRect(), box = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, at.left + (at.width - box.width) / 2), innerWidth - box.width - 8);
  tip.style.left = `${left}px`;
  tip.style.top = `${at.top - box.height - 14 > 4 ? at.top - box.height - 14 : at.bottom + 8}px`;
}
