// What is new on the table moves a little, so that nobody has to look for what the other did. The log says it too.
const label = (area) => area.querySelector("h3")?.firstChild?.textContent.trim() ?? "";
const face = (card) => [...card.querySelectorAll(".big, .pip, .weave")].map((one) => one.textContent || "back").join(" ");

// How often each card lies in each area, and what stands in each cell and beside each label.
export function seen(place) {
  const found = new Map();
  for (const [key] of things(place)) found.set(key, (found.get(key) ?? 0) + 1);
  return found;
}

export function mark(place, before) {
  const left = new Map(before);
  for (const [key, thing] of things(place)) {
    const many = left.get(key) ?? 0;
    left.set(key, many - 1);
    thing.classList.toggle("fresh", many < 1);
  }
}

function* things(place) {
  for (const area of place.querySelectorAll(".area")) {
    const name = label(area);
    for (const card of area.querySelectorAll(".card")) yield [`${name}|${face(card)}`, card];
    for (const cell of area.querySelectorAll("td.cell")) yield [`${name}|${cell.className.match(/r\d+ c\d+/)}|${cell.textContent}`, cell];
    for (const number of area.querySelectorAll(".tally strong, :scope > p > b")) yield [`${name}|${number.textContent}`, number];
  }
}
