// Marks what is new on the table with a small motion, so that players need not search for it. The log says it too.
const label = (area) => area.querySelector("h3")?.firstChild?.textContent.trim() ?? "";
const cardText = (card) => [...card.querySelectorAll(".corner, .pip, .weave")].map((one) => one.textContent || "back").join(" ");

// How often each card lies in each area, and what stands in each cell and beside each label.
export function countThings(place) {
  const counts = new Map();
  for (const [key] of things(place)) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

export function markNew(place, before) {
  const remaining = new Map(before);
  for (const [key, thing] of things(place)) {
    const count = remaining.get(key) ?? 0;
    remaining.set(key, count - 1);
    thing.classList.toggle("is-new", count < 1);
  }
}

function* things(place) {
  for (const area of place.querySelectorAll(".area")) {
    const name = label(area);
    for (const card of area.querySelectorAll(".card")) yield [`${name}|${cardText(card)}`, card];
    for (const cell of area.querySelectorAll("td.cell")) yield [`${name}|${cell.className.match(/r\d+ c\d+/)}|${cell.textContent}`, cell];
    for (const number of area.querySelectorAll(":scope > p > b, .bars b")) yield [`${name}|${number.textContent}`, number];
    for (const token of area.querySelectorAll(".track .token")) yield [`${token.className}|${token.parentElement.textContent}`, token];
  }
  for (const side of place.querySelectorAll(".side")) {
    for (const won of side.querySelectorAll(".points b, .won")) yield [`${side.querySelector(".who").textContent}|${won.textContent}`, won];
  }
}
