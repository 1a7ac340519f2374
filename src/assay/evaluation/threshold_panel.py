"""The threshold slider of a page: both rates of one or more systems, as the threshold of their scores moves.

The page works without the script: it shows the rates at one threshold, and a table of all tenths. The script moves the
threshold in hundredths and reads counts that stand in the page. It is a constant of ours that the page's content
security policy names by its digest, and it puts text into the page as text alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from assay.reporting import Child, Markup, foreign, rates_by_threshold, scrolled, tag
from assay.stats import wilson

STEPS: Final = 100
"""Steps of the slider from 0 to 1: hundredths."""
NO_THRESHOLD: Final = 0.5
"""Where the slider stands at first, where the verdict decided."""

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
"""What the slider needs besides the page's own style."""

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
"""Moves the threshold; nothing of a report is in it."""


@dataclass(frozen=True, slots=True)
class System:
    """The scores of one system on labelled rows; what has no score is stopped at every threshold."""

    name: str
    scored: Sequence[tuple[bool, float | None]]
    """Of each row whether it is wrong, and its score within 0 and 1."""

    def counts(self) -> tuple[list[int], list[int]]:
        """At each step how many right rows reach the threshold, and how many wrong ones do not."""
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
        """How many are not."""
        return len(self.scored) - self.wrong


def threshold_panel(systems: Sequence[System], threshold: float | None = None) -> Markup | None:
    """The slider over the rates of the systems; none where no system has both right and wrong rows.

    Args:
        systems: side by side, the one that is drawn first.
        threshold: where the slider stands at first, within 0 and 1.
    """
    shown = [one for one in systems if one.right and one.wrong]
    if not shown:
        return None
    at = round((NO_THRESHOLD if threshold is None else threshold) * STEPS)
    counted = [(one, *one.counts()) for one in shown]
    head = tag(
        "tr",
        tag("th", "Score of", scope="col"),
        (tag("th", words, scope="col", class_="num") for words in ("honest emitted", "wrong stopped")),
    )
    body = (
        tag(
            "tr",
            tag("th", foreign(one.name), scope="row"),
            _cell(emitted[at], one.right),
            _cell(stopped[at], one.wrong),
            data_honest=one.right,
            data_wrong=one.wrong,
            data_emitted=" ".join(map(str, emitted)),
            data_stopped=" ".join(map(str, stopped)),
        )
        for one, emitted, stopped in counted
    )
    first, emitted, stopped = counted[0]
    drawing = rates_by_threshold(
        ("Both rates of ", foreign(first.name), "."),
        "Solid: honest emitted; dashed: wrong stopped.",
        [count / first.right for count in emitted],
        [count / first.wrong for count in stopped],
        at / STEPS,
    )
    slider = tag(
        "p",
        tag("label", "Threshold", for_="threshold"),
        tag("input", type="range", id="threshold", min=0, max=STEPS, step=1, value=at, disabled=True),
        tag("output", f"{at / STEPS:.2f}", for_="threshold"),
        class_="threshold",
        hidden=True,
    )
    words = "What scores below the threshold is stopped, and so is what has no score. Intervals are Wilson's."
    return tag(
        "section",
        tag("h2", "Other thresholds"),
        tag("p", words, class_="small soft"),
        slider,
        tag(
            "div",
            drawing,
            scrolled("Rates", tag("table", tag("thead", head), tag("tbody", body), class_="rates")),
            class_="plots",
        ),
        _tenths(counted),
        data_threshold=True,
    )


def _cell(count: int, of: int) -> Markup:
    low, high = wilson(count, of)
    words = f"{count} of {of}, {low:.3f} to {high:.3f}"
    return tag("td", f"{count / of:.3f}", tag("small", words), class_="num")


def _tenths(counted: Iterable[tuple[System, Sequence[int], Sequence[int]]]) -> Markup:
    """The rates at every tenth, for paper and for browsers without scripts."""
    listed = list(counted)
    head = tag(
        "tr",
        tag("th", "Threshold", scope="col"),
        (
            tag("th", foreign(one.name), f": {words}", scope="col", class_="num")
            for one, _, _ in listed
            for words in ("honest emitted", "wrong stopped")
        ),
    )
    body: list[Child] = []
    for step in range(0, STEPS + 1, STEPS // 10):
        shares = [
            share
            for one, emitted, stopped in listed
            for share in (emitted[step] / one.right, stopped[step] / one.wrong)
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
