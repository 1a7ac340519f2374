// A report: shows the card of the claim under the pointer next to the output. Without this script all cards are shown
// below each other, and the marks are links to them.
let inspector, cards, order, pinned;

function show(numbers, { pin = false, scroll = false } = {}) {
  const shown = numbers.filter((number) => cards?.has(number));
  if (!inspector || !shown.length) return;
  if (pin) pinned = shown;
  for (const [number, card] of cards) card.hidden = !shown.includes(number);
  const marks = [...document.querySelectorAll("a[data-claims]")];
  for (const mark of marks) mark.classList.toggle("on", of(mark).some((number) => shown.includes(number)));
  const places = shown.map((number) => order.indexOf(number) + 1).sort((a, b) => a - b);
  inspector.querySelector("[data-place]").textContent = `${places.join(", ")} of ${order.length}`;
  if (scroll) marks.find((mark) => mark.classList.contains("on"))?.scrollIntoView({ block: "nearest" });
  if (scroll) marks.findLast((mark) => mark.classList.contains("on"))?.scrollIntoView({ block: "nearest" });
}

function of(mark) {
  return mark.dataset.claims.split(" ");
}

function step(by) {
  if (!inspector) return false;
  const places = pinned.map((number) => order.indexOf(number));
  const at = by > 0 ? Math.max(...places) : Math.min(...places);
  show([order[(at + by + order.length) % order.length]], { pin: true, scroll: true });
  return true;
}

function button(words, key, by) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "button small";
  made.textContent = words;
  made.title = `${words} claim (${key})`;
  made.setAttribute("aria-keyshortcuts", key);
  made.addEventListener("click", () => step(by));
  return made;
}

export function readReport(root = document) {
  inspector = root.querySelector("[data-inspector]");
  cards = new Map([...(inspector?.querySelectorAll(".card[data-claim]") ?? [])].map((card) => [card.dataset.claim, card]));
  if (!inspector || cards.size === 0) { inspector = null; return; }
  order = [...cards.keys()];
  inspector.classList.add("one");
  const bar = document.createElement("div");
  bar.className = "stepper";
  const place = document.createElement("span");
  place.dataset.place = "";
  bar.append(place, button("Previous", "k", -1), button("Next", "j", 1));
  inspector.querySelector("h2").append(bar);
  inspector.setAttribute("aria-live", "polite");
  const target = /^#claim-(\d+)$/.exec(location.hash)?.[1];
  show([cards.has(target) ? target : order[0]], { pin: true });
}

function markAt(event) {
  return inspector && event.target instanceof Element ? event.target.closest("a[data-claims]") : null;
}

// When the page scrolls under a pointer that does not move, the card stays: the reader may be using the keyboard.
let lastPosition = "";

function hasMoved(event) {
  const at = `${event.screenX} ${event.screenY}`;
  const moved = at !== lastPosition;
  lastPosition = at;
  return moved;
}

document.addEventListener("pointermove", hasMoved);
document.addEventListener("pointerover", (event) => {
  const mark = markAt(event);
  if (hasMoved(event) && mark) show(of(mark));
});
document.addEventListener("pointerout", (event) => { if (markAt(event)) show(pinned); });
document.addEventListener("focusin", (event) => {
  const mark = markAt(event);
  if (mark) show(of(mark), { pin: true });
});
document.addEventListener("click", (event) => {
  const mark = markAt(event);
  if (!mark) return;
  show(of(mark), { pin: true });
  // Next to the output the card is visible; on a narrow screen it is below, and the link scrolls to it.
  if (matchMedia("(min-width: 68rem)").matches) {
    event.preventDefault();
    history.replaceState(null, "", mark.hash);
  }
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  if ((event.key === "j" && step(1)) || (event.key === "k" && step(-1))) event.preventDefault();
});
addEventListener("hashchange", () => {
  const target = /^#claim-(\d+)$/.exec(location.hash)?.[1];
  if (target) show([target], { pin: true });
});
// All cards are shown for printing.
addEventListener("beforeprint", () => { if (inspector) for (const card of cards.values()) card.hidden = false; });
addEventListener("afterprint", () => { if (inspector) show(pinned); });

readReport();
