// The page of policy trials: each move of a slider requests the result, and aborts the request before it.
const form = document.querySelector("form[data-what-if]");
const result = document.querySelector("[data-result]");
let waiting = 0;
let asking = null;

function show(input) {
  const row = input.closest(".slider");
  if (!row) return;
  const output = row.querySelector("output");
  output.value = Number(input.value).toFixed(2);
  row.classList.toggle("changed", output.value !== output.dataset.was);
}

async function ask(moved = true) {
  if (asking) asking.abort();
  asking = new AbortController();
  const query = new URLSearchParams(new FormData(form));
  if (moved) history.replaceState(null, "", `${form.action}?${query}`);
  query.set("part", "result");
  result.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(`${form.action}?${query}`, { signal: asking.signal, headers: { accept: "text/html" } });
    const text = await answer.text();
    const page = new DOMParser().parseFromString(text, "text/html");
    if (answer.ok) result.replaceChildren(...page.body.childNodes);
    else result.replaceChildren(document.createTextNode("The server could not answer; try again."));
    // The server returns the result so far; the next request continues from there.
    if (answer.ok && result.querySelector("[data-more]")) waiting = setTimeout(ask, 10, false);
    else result.removeAttribute("aria-busy");
  } catch (error) {
    if (error.name !== "AbortError") {
      result.replaceChildren(document.createTextNode("The server could not be reached; try again."));
      result.removeAttribute("aria-busy");
    }
  }
}

if (form && result) {
  form.addEventListener("input", (event) => {
    show(event.target);
    clearTimeout(waiting);
    waiting = setTimeout(ask, 180, true);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(waiting); ask(); });
  if (result.querySelector("[data-ask]")) ask(false);
}
