// The page of a review item: a key for each act, and the changes of an edit, shown while it is written.
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

// The second step: Ctrl+Enter submits, Escape goes back.
const confirm = document.querySelector("[data-confirm]");
if (confirm) {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); confirm.form.requestSubmit(confirm); }
    else if (event.key === "Escape") confirm.parentElement.querySelector("a").click();
  });
  confirm.form.addEventListener("submit", () => { confirm.disabled = true; });
}

// The changes word by word, by the longest common subsequence of words; beyond a bound all words count as changed, so
// that a long text stays fast.
const area = document.querySelector("[data-edit]");
const box = document.querySelector("[data-diff-box]");
const shown = document.querySelector("[data-diff]");
const MOST_WORDS = 1200;

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
  if (old.length > MOST_WORDS || fresh.length > MOST_WORDS) made.push(["del", old], ["ins", fresh]);
  else made.push(...commonSubsequence(old, fresh));
  made.push(["same", before.slice(before.length - end)]);
  return made.filter(([, parts]) => parts.length);
}

function commonSubsequence(old, fresh) {
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
  // A suggestion is applied by its button. Its start is a code point of the original output, in which a line may end
  // in \r\n; in the area it ends in \n.
  for (const button of document.querySelectorAll("[data-suggestion]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const points = [...area.defaultValue];
      const before = button.dataset.before.replace(/\r\n?/g, "\n");
      const at = nearest(area.value, before, points.slice(0, Number(button.dataset.start)).join("").length);
      if (at < 0) return;
      area.value = area.value.slice(0, at) + button.dataset.after + area.value.slice(at + before.length);
      button.disabled = true;
      draw();
      area.focus();
      area.setSelectionRange(at, at + button.dataset.after.length);
    });
  }
}

// Where a part of a text occurs nearest to an offset: the same words may occur several times. -1 if nowhere, or if the
// part is empty.
function nearest(text, part, offset) {
  let found = -1;
  if (!part) return found;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    if (found < 0 || Math.abs(at - offset) < Math.abs(found - offset)) found = at;
  }
  return found;
}
