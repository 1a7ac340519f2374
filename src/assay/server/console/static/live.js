// Keeps the parts of a page with `data-live` up to date: they are fetched again while the page is visible.
const PAUSE_MS = 15_000;
const title = document.title;
const status = document.createElement("p");
status.className = "hidden";
status.setAttribute("role", "status");
document.querySelector("main").append(status);

function parts(root) { return [...root.querySelectorAll("[data-live]")]; }

function links(root) { return parts(root).flatMap((one) => [...one.querySelectorAll("a.row")]).map((one) => one.getAttribute("href")); }

// No update while a row is under the pointer or chosen, so that nothing moves when the reader is about to click.
function busy() { return parts(document).some((one) => one.querySelector("tr:hover, input.choose:checked")) || document.hidden; }

async function follow() {
  if (busy()) return;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    // The session has ended or the server is busy: the page stays as it is until the reader loads it again.
    if (!answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = parts(page);
    const old = parts(document);
    if (busy() || fresh.length !== old.length) return;
    const known = new Set(links(document));
    const focused = document.activeElement?.getAttribute?.("href");
    old.forEach((one, at) => { one.replaceWith(document.adoptNode(fresh[at])); });
    const now = links(document);
    if (focused && known.has(focused)) document.querySelector(`[data-live] a.row[href="${CSS.escape(focused)}"]`)?.focus();
    const more = now.filter((one) => !known.has(one)).length;
    if (more) {
      status.textContent = `${more} more in the list`;
      document.title = `(${more}) ${title}`;
    }
  } catch { /* No network now; the next interval tries again. */ }
}

setInterval(follow, PAUSE_MS);
document.addEventListener("visibilitychange", () => { if (!document.hidden) { document.title = title; follow(); } });
