// One item of the review queue: a key for each decision, and the difference that an edit makes while it is made.
const acts = document.querySelector("[data-acts]");

function writing(target) {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

document.addEventListener("keydown", (event) => {
  if (!acts || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || writing(event.target)) return;
  const found = acts.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!found) return;
  event.preventDefault();
  if (event.key === "e") {
    const area = document.querySelector("[data-edit]");
    area.focus();
    area.closest("section").scrollIntoView({ block: "start" });
  } else found.click();
});

// The second step: Ctrl+Enter sends, Escape goes back.
const confirm = document.querySelector("[data-confirm]");
if (confirm) {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); confirm.form.requestSubmit(confirm); }
    else if (event.key === "Escape") confirm.parentElement.querySelector("a").click();
  });
  confirm.form.addEventListener("submit", () => { confirm.disabled = true; });
}

// The difference, word by word: the longest common run of words within a bound, so that a long text stays quick.
const area = document.querySelector("[data-edit]");
const box = document.querySelector("[data-diff-box]");
const shown = document.querySelector("[data-diff]");
const MOST = 1200;

function words(text) { return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) || []; }

function difference(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start
    && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const old = before.slice(start, before.length - end);
  const fresh = after.slice(start, after.length - end);
  const made = [["same", before.slice(0, start)]];
  if (old.length > MOST || fresh.length > MOST) made.push(["del", old], ["ins", fresh]);
  else made.push(...middle(old, fresh));
  made.push(["same", before.slice(before.length - end)]);
  return made.filter(([, parts]) => parts.length);
}

function middle(old, fresh) {
  const wide = fresh.length + 1;
  const table = new Uint16Array((old.length + 1) * wide);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      table[i * wide + j] = old[i] === fresh[j] ? table[(i + 1) * wide + j + 1] + 1
        : Math.max(table[(i + 1) * wide + j], table[i * wide + j + 1]);
    }
  }
  const made = [];
  const add = (kind, part) => {
    const last = made[made.length - 1];
    if (last && last[0] === kind) last[1].push(part);
    else made.push([kind, [part]]);
  };
  let i = 0;
  let j = 0;
  while (i < old.length || j < fresh.length) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) { add("same", old[i++]); j++; }
    else if (j < fresh.length && (i === old.length || table[i * wide + j + 1] > table[(i + 1) * wide + j])) add("ins", fresh[j++]);
    else add("del", old[i++]);
  }
  return made;
}

function draw() {
  const same = area.value === area.defaultValue;
  box.hidden = same;
  if (same) { shown.replaceChildren(); return; }
  const nodes = difference(words(area.defaultValue), words(area.value)).map(([kind, parts]) => {
    let text = parts.join("");
    if (kind === "same") {
      if (text.length > 240) text = `${text.slice(0, 110)} … ${text.slice(-110)}`;
      return document.createTextNode(text);
    }
    const node = document.createElement(kind);
    node.textContent = text;
    return node;
  });
  shown.replaceChildren(...nodes);
}

if (area && box && shown) {
  let waiting = 0;
  area.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(draw, 120); });
  draw();
  // Suggestions are taken over on request; places are code points of the output as it was.
  for (const take of document.querySelectorAll("[data-suggestion]")) {
    take.hidden = false;
    take.addEventListener("click", () => {
      const points = [...area.defaultValue];
      const words_ = points.slice(Number(take.dataset.start), Number(take.dataset.end)).join("");
      const at = area.value.indexOf(words_);
      if (at < 0) return;
      area.value = area.value.slice(0, at) + take.dataset.after + area.value.slice(at + words_.length);
      take.disabled = true;
      draw();
      area.focus();
      area.setSelectionRange(at, at + take.dataset.after.length);
    });
  }
}
