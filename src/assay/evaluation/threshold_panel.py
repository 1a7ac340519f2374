"""The threshold slider of a page: both rates of one or more systems as functions of the threshold of their scores.

The page works without the script: it shows the rates at one threshold, and a table at every tenth. The script moves the
threshold in hundredths and reads counts from attributes of the page. It is a constant that the page's content security
policy names by its digest, and it inserts only text, never markup.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from assay.reporting import Child, Markup, foreign, rates_by_threshold, scrolled, tag
from assay.stats import wilson

STEPS: Final = 100
"""Steps of the slider from 0 to 1: hundredths."""
NO_THRESHOLD: Final = 0.5
"""The initial position of the slider if the verdict decides."""

STYLE: Final = """
.threshold{display:flex;flex-wrap:wrap;gap:.4rem 1rem;align-items:center;margin:.6rem 0}
.threshold[hidden]{display:none}
.threshold input{flex:1 1 14rem;accent-color:var(--accent);min-height:1.5rem}
.threshold output{min-width:3rem;font-size:1.25rem;font-variant-numeric:tabular-nums}
.stopped{fill:none;stroke:var(--bad);stroke-width:2;stroke-dasharray:7 3}
.at{stroke:var(--ink);stroke-width:1.5}
.rates td small{display:block;color:var(--soft);font-size:.75rem}
details.tenths{margin:.6rem 0}details.tenths>summary{cursor:pointer}
.then{display:block;font-size:.75rem;color:var(--soft)}
"""
"""The style of the slider."""

SCRIPT: Final = """
"use strict";
for (const panel of document.querySelectorAll("[data-threshold]")) {
  const slider = panel.querySelector("input"), shown = panel.querySelector("output");
  const line = panel.querySelector(".at"), rows = [...panel.querySelectorAll("[data-emitted]")];
  const numbers = (text) => text.split(" ").map(Number);
  const systems = rows.map((row) => ({
    cells: row.querySelectorAll("td"), honest: Number(row.dataset.honest), wrong: Number(row.dataset.wrong),
    emitted: numbers(row.dataset.emitted), stopped: numbers(row.dataset.stopped),
  }));
  const wilson = (count, of) => {
    const z = 1.959963984540054, share = count / of, shrink = 1 + z * z / of;
    const middle = (share + z * z / (2 * of)) / shrink;
    const half = z * Math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / shrink;
    return [count ? Math.max(0, middle - half) : 0, count < of ? Math.min(1, middle + half) : 1];
  };
  const draw = (cell, count, of) => {
    const [value, small] = cell.childNodes;
    if (!of) return;
    const [low, high] = wilson(count, of);
    value.textContent = (count / of).toFixed(3);
    small.textContent = `${count} of ${of}, ${low.toFixed(3)} to ${high.toFixed(3)}`;
  };
  const judged = document.querySelectorAll("details.row[data-wrong]");
  const move = () => {
    const step = Number(slider.value), at = step / 100;
    shown.textContent = at.toFixed(2);
    slider.setAttribute("aria-valuetext", at.toFixed(2));
    for (const one of systems) {
      draw(one.cells[0], one.emitted[step], one.honest);
      draw(one.cells[1], one.stopped[step], one.wrong);
    }
    if (line) {
      const x = Number(line.dataset.from) + at * Number(line.dataset.length);
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
    }
    for (const row of judged) {
      if (row.dataset.score === "") continue;
      const wrong = row.dataset.wrong === "1", low = Number(row.dataset.score) < at;
      const kind = low === wrong ? "right" : low ? "false alarm" : "missed";
      row.querySelector(".then").textContent = kind === row.dataset.kind ? "" : `${kind} at ${at.toFixed(2)}`;
    }
  };
  slider.addEventListener("input", move);
  slider.disabled = false;
  slider.parentElement.hidden = false;
}
"""
"""The script of the slider; it contains nothing of a report."""


@dataclass(frozen=True, slots=True)
class SystemScores:
    """The scores of one system on labelled rows; a row without a score is stopped at every threshold."""

    name: str
    scored: Sequence[tuple[bool, float | None]]
    """For each row whether it is wrong, and its score, from 0 to 1 or none."""

    def counts(self) -> tuple[list[int], list[int]]:
        """For each step of the slider the right rows that reach the threshold, and the wrong rows that do not."""
        emitted, stopped = [0] * (STEPS + 1), [0] * (STEPS + 1)
        for wrong, score in self.scored:
            for step in range(STEPS + 1):
                passes = score is not None and score >= step / STEPS
                if wrong and not passes:
                    stopped[step] += 1
                elif passes and not wrong:
                    emitted[step] += 1
        return emitted, stopped

    @property
    def wrong(self) -> int:
        """How many rows are wrong."""
        return sum(wrong for wrong, _ in self.scored)

    @property
    def right(self) -> int:
        """How many rows are right."""
        return len(self.scored) - self.wrong


def threshold_panel(systems: Sequence[SystemScores], threshold: float | None = None) -> Markup | None:
    """The slider over the rates of the systems; none where no system has both right and wrong rows.

    Args:
        systems: the rows of the table; the first is drawn as a curve.
        threshold: the initial position of the slider, from 0 to 1.
    """
    drawable = [system for system in systems if system.right and system.wrong]
    if not drawable:
        return None
    step = round((NO_THRESHOLD if threshold is None else threshold) * STEPS)
    counts = [(system, *system.counts()) for system in drawable]
    head = tag(
        "tr",
        tag("th", "Score of", scope="col"),
        (tag("th", rate, scope="col", class_="num") for rate in ("honest emitted", "wrong stopped")),
    )
    body = (
        tag(
            "tr",
            tag("th", foreign(system.name), scope="row"),
            _cell(emitted[step], system.right),
            _cell(stopped[step], system.wrong),
            data_honest=system.right,
            data_wrong=system.wrong,
            data_emitted=" ".join(map(str, emitted)),
            data_stopped=" ".join(map(str, stopped)),
        )
        for system, emitted, stopped in counts
    )
    first, emitted, stopped = counts[0]
    drawing = rates_by_threshold(
        ("Both rates of ", foreign(first.name), "."),
        "Solid: honest emitted; dashed: wrong stopped.",
        [count / first.right for count in emitted],
        [count / first.wrong for count in stopped],
        step / STEPS,
    )
    slider = tag(
        "p",
        tag("label", "Threshold", for_="threshold"),
        tag("input", type="range", id="threshold", min=0, max=STEPS, step=1, value=step, disabled=True),
        tag("output", f"{step / STEPS:.2f}", for_="threshold"),
        class_="threshold",
        hidden=True,
    )
    rate = "What scores below the threshold is stopped, and so is what has no score. Intervals are Wilson's."
    return tag(
        "section",
        tag("h2", "Other thresholds"),
        tag("p", rate, class_="small soft"),
        slider,
        tag(
            "div",
            drawing,
            scrolled("Rates", tag("table", tag("thead", head), tag("tbody", body), class_="rates")),
            class_="plots",
        ),
        _tenths(counts),
        data_threshold=True,
    )


def _cell(count: int, of: int) -> Markup:
    low, high = wilson(count, of)
    words = f"{count} of {of}, {low:.3f} to {high:.3f}"
    return tag("td", f"{count / of:.3f}", tag("small", words), class_="num")


def _tenths(counts: Iterable[tuple[SystemScores, Sequence[int], Sequence[int]]]) -> Markup:
    """The rates at every tenth, for paper and for browsers without scripts."""
    counts_listed = list(counts)
    head = tag(
        "tr",
        tag("th", "Threshold", scope="col"),
        (
            tag("th", foreign(system.name), f": {rate}", scope="col", class_="num")
            for system, _, _ in counts_listed
            for rate in ("honest emitted", "wrong stopped")
        ),
    )
    body: list[Child] = []
    for step in range(0, STEPS + 1, STEPS // 10):
        shares = [
            share
            for system, emitted, stopped in counts_listed
            for share in (emitted[step] / system.right, stopped[step] / system.wrong)
        ]
        body.append(
            tag(
                "tr",
                tag("th", f"{step / STEPS:.1f}", scope="row"),
                (tag("td", f"{share:.3f}", class_="num") for share in shares),
            )
        )
    table = tag("table", tag("thead", head), tag("tbody", body))
    return tag("details", tag("summary", "Every tenth"), scrolled("Every tenth", table), class_="tenths")
