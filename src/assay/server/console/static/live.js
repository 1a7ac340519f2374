// A page whose parts follow what happens: those with `data-live` are fetched again while somebody looks at them.
const PAUSE_MS = 15_000;
const title = document.title;
const told = document.createElement("p");
told.className = "hidden";
told.setAttribute("role", "status");
document.querySelector("main").append(told);

function parts(root) { return [...root.querySelectorAll("[data-live]")]; }

function links(root) { return parts(root).flatMap((one) => [...one.querySelectorAll("a.row")]).map((one) => one.getAttribute("href")); }

// Nothing moves under a hand: not while a row is pointed at, one is chosen, or a mouse button is down.
function busy() { return parts(document).some((one) => one.querySelector("tr:hover, input.choose:checked")) || document.hidden; }

async function follow() {
  if (busy()) return;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    // Signed out meanwhile, or the server is busy: the page stays as it is, and says so when it is loaded again.
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
      told.textContent = `${more} more in the list`;
      document.title = `(${more}) ${title}`;
    }
  } catch { /* The network is away: the next time will do. */ }
}

setInterval(follow, PAUSE_MS);
document.addEventListener("visibilitychange", () => { if (!document.hidden) { document.title = title; follow(); } });
