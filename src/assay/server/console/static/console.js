// The script of every page: keyboard shortcuts, a list of them, and relative times.
const go = { o: "/console", r: "/console/runs", v: "/console/review", g: "/console/gaps", p: "/console/policies",
  y: "/console/playground", a: "/console/audit", u: "/console/users", t: "/console/redteam",
  d: "/console/datasets" };
let pending = 0;

function writing(target) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function moveRow(by) {
  const rows = [...document.querySelectorAll("table.rows a.row")];
  if (!rows.length) return false;
  const at = rows.indexOf(document.activeElement);
  rows[Math.min(Math.max(at + by, 0), rows.length - 1)].focus();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || writing(event.target)) return;
  if (pending && Date.now() - pending < 1500 && go[event.key]) {
    const link = document.querySelector(`.side nav a[href="${go[event.key]}"]`);
    pending = 0;
    if (link) { event.preventDefault(); link.click(); }
    return;
  }
  pending = 0;
  if (event.key === "g") pending = Date.now();
  else if (event.key === "/") {
    const search = document.querySelector("input[type=search]");
    if (search) { event.preventDefault(); search.focus(); search.select(); }
  } else if ((event.key === "j" || event.key === "k") && !event.defaultPrevented) {
    if (moveRow(event.key === "j" ? 1 : -1)) event.preventDefault();
  }
});

// Escape closes the menu of a narrow screen.
document.addEventListener("keydown", (event) => {
  const menu = document.querySelector("details[data-menu][open]");
  if (event.key === "Escape" && menu) { menu.open = false; menu.querySelector("summary").focus(); }
});

// Forms that are submitted when a choice changes, such as filters; their buttons do it without a script.
for (const field of document.querySelectorAll("form[data-auto] select")) {
  field.addEventListener("change", () => field.form.requestSubmit());
}

// Everything is expanded for printing.
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("main details:not([open])")];
  for (const one of opened) one.open = true;
});
addEventListener("afterprint", () => { for (const one of opened) one.open = false; });

// The list of shortcuts.
const KEYS = [["/", "Search"], ["j  k", "Next and previous row or claim"], ["g o", "Overview"], ["g r", "Runs"],
  ["g v", "Review"], ["g t", "Red team"], ["g g", "Evidence gaps"], ["g p", "Policies"], ["g d", "Datasets"], ["g y", "Playground"], ["g a", "Audit log"],
  ["g u", "Access"], ["?", "This list"]];

function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}

function help() {
  let dialog = document.querySelector("dialog.keys");
  if (!dialog) {
    const list = element("dl", "", ...KEYS.map(([keys, words]) => {
      const named = element("dt", "", ...keys.split("  ").flatMap((one) => [element("kbd", one), " "]));
      return element("div", "", named, element("dd", words));
    }));
    list.className = "facts list";
    const close = element("button", "Close");
    close.className = "button";
    close.addEventListener("click", () => dialog.close());
    dialog = element("dialog", "", element("h2", "Keys"), list, close);
    dialog.className = "keys";
    dialog.setAttribute("aria-label", "Keys");
    document.body.append(dialog);
  }
  dialog.showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.key === "?" && !writing(event.target) && !event.ctrlKey && !event.metaKey) { event.preventDefault(); help(); }
});

// Keeps relative times up to date; deadlines count down by the second in their last 15 minutes.
const SOON_S = 900;

function spanWords(seconds) {
  for (const [size, unit] of [[86400, "d"], [3600, "h"], [60, "min"]]) if (seconds >= size) return `${Math.floor(seconds / size)} ${unit}`;
  return `${Math.floor(seconds)} s`;
}

// The clock of the browser may be wrong: an element has the server's time from when the page was drawn, and only the
// time that has passed since then is measured here.
const firstSeen = new WeakMap();

function nowOf(one, at) {
  if (!firstSeen.has(one)) firstSeen.set(one, performance.now());
  return (Date.parse(at) + performance.now() - firstSeen.get(one)) / 1000;
}

function tick() {
  for (const one of document.querySelectorAll("time[data-due]")) {
    const left = Date.parse(one.dateTime) / 1000 - nowOf(one, one.dataset.due);
    const shown = one.querySelector(".badge");
    if (!shown) continue;
    const words = left < 0 ? `${spanWords(-left)} late` : left < SOON_S
      ? `in ${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}` : `in ${spanWords(left)}`;
    if (shown.textContent !== words) shown.textContent = words;
    shown.className = `badge ${left < 0 ? "bad" : left < SOON_S ? "doubt" : "quiet"}`;
  }
  for (const one of document.querySelectorAll("time[data-ago]")) {
    const since = nowOf(one, one.dataset.ago) - Date.parse(one.dateTime) / 1000;
    const words = Math.abs(since) < 1 ? "now" : since > 0 ? `${spanWords(since)} ago` : `in ${spanWords(-since)}`;
    if (one.textContent !== words) one.textContent = words;
  }
}

setInterval(tick, 1000);
