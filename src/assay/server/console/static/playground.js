// Updates the report while the answer is written: shortly after the last key the form is sent, and an older request is
// aborted.
import { readReport } from "./run.js";

const form = document.querySelector("form[data-playground]");
const report = document.querySelector("[data-report]");
const state = form.querySelector("[data-state]");
const PAUSE_MS = 350;
let timer = 0;
let running = null;

async function check() {
  clearTimeout(timer);
  running?.abort();
  const own = (running = new AbortController());
  state.textContent = "Checking…";
  report.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(form.action, {
      method: "POST",
      body: new URLSearchParams(new FormData(form)),
      headers: { "x-assay-part": "report" },
      signal: own.signal,
    });
    if (!answer.ok || answer.redirected) throw new Error(`The server answered with ${answer.status}.`);
    // The server has escaped everything in it, and the content security policy would not run a script that it missed.
    report.innerHTML = await answer.text();
    readReport(report);
    state.textContent = "";
  } catch (error) {
    if (error.name === "AbortError") return;
    state.textContent = `It was not checked: ${error.message}`;
  }
  if (running === own) report.removeAttribute("aria-busy");
}

form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(check, PAUSE_MS); });
form.addEventListener("change", (event) => { if (event.target.matches("select")) check(); });
form.addEventListener("submit", (event) => { event.preventDefault(); check(); });
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); check(); }
});
if (form.elements.answer.value.trim() && !report.querySelector(".decision")) check();
