// The checkboxes of a list: the number of chosen rows, a box for all of them, and the key `x` for the focused row.
for (const form of document.querySelectorAll("form[data-choose]")) {
  const boxes = [...form.querySelectorAll("input.choose")];
  const status = form.querySelector("[data-chosen]");
  const all = document.createElement("input");
  all.type = "checkbox";
  all.className = "choose";
  all.setAttribute("aria-label", "Choose all of this page");
  form.querySelector("thead th")?.prepend(all);

  const update = () => {
    const count = boxes.filter((box) => box.checked).length;
    all.checked = count === boxes.length && count > 0;
    all.indeterminate = count > 0 && count < boxes.length;
    if (status) status.textContent = count ? `With the ${count} chosen` : "Select rows with their boxes, or with x";
  };
  all.addEventListener("change", () => { for (const box of boxes) box.checked = all.checked; update(); });
  for (const box of boxes) box.addEventListener("change", update);
  form.addEventListener("keydown", (event) => {
    const row = event.target instanceof HTMLElement && event.target.matches("a.row") ? event.target.closest("tr") : null;
    if (event.key !== "x" || !row || event.ctrlKey || event.metaKey || event.altKey) return;
    const box = row.querySelector("input.choose");
    if (box) { box.checked = !box.checked; event.preventDefault(); update(); }
  });
  update();
}
