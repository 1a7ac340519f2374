"""The trace of an agent run on a page: a collapsible tree, with a bar for the start and the duration of each step."""

from collections.abc import Mapping
from typing import Any, Final

from assay.reporting import Child, Markup, foreign, group, tag
from assay.server.console.parts import badge, millis, panel, shorten
from assay.server.console.views.trace_tree import Node, Trace, trace_of

_KINDS: Final = {
    "agent": ("agent", "accent"),
    "model": ("model", "quiet"),
    "tool": ("tool", "doubt"),
    "user": ("user", "quiet"),
    "system": ("instructions", "quiet"),
    "result": ("result", "quiet"),
    "stray": ("result of no call", "doubt"),
    "other": ("unknown", "doubt"),
    "passage": ("passage", "quiet"),
    "span": ("step", "quiet"),
}


def trace_view(asked: Mapping[str, Any] | None) -> Markup | None:
    """The trace of the agent run that a check was given; `None` if the check was not of a run.

    Args:
        asked: the arguments of the check; `None` where they were erased.
    """
    if asked is None or asked.get("run") is None:
        return None
    trace = trace_of(asked)
    if trace is None:
        words = "What the agent did cannot be shown as a tree: no step of it can be read. It is in the record itself."
        return panel("Trace", tag("p", words, class_="soft"), id_="trace")
    return panel(
        "Trace",
        tag("p", _about(trace), class_="soft"),
        [tag("p", badge("odd", "doubt", "!"), " ", foreign(shorten(one, 200))) for one in trace.notes],
        tag("ul", [_node(node, trace) for node in trace.roots], class_="trace", aria_label="What the agent did"),
        _left_out(trace),
        actions=tag("span", f"{trace.failed:,} failed", class_="bad") if trace.failed else None,
        id_="trace",
    )


def _left_out(trace: Trace) -> Markup | None:
    if not trace.left_out:
        return None
    failed = f", {trace.left_out_failed:,} of which failed," if trace.left_out_failed else ""
    shown = f"Shown are {trace.nodes - trace.left_out:,} of {trace.nodes:,} steps, those that failed before others: "
    words = f"{shown}{trace.left_out:,} more{failed} are in the record itself."
    return tag("p", words, class_="bad" if trace.left_out_failed else "soft")


def _about(trace: Trace) -> str:
    parts = [f"{trace.nodes:,} steps"]
    parts.append("without times in this format" if trace.total_ms is None else f"{millis(trace.total_ms)} in all")
    if trace.tokens is not None:
        parts.append(f"{trace.tokens:,} tokens of models")
    return ", ".join(parts) + ". As reported by the client that ran the agent."


def _node(node: Node, trace: Trace) -> Markup:
    """A node with the nodes below it, opened."""
    line = tag("div", _line(node, trace), class_="step failed" if node.failed else "step")
    if not node.children and not node.left_out:
        return tag("li", line)
    parts = [_node(child, trace) for child in node.children]
    if node.left_out:
        failed = f", {node.left_out_failed:,} of them failed" if node.left_out_failed else ""
        words = f"{node.left_out:,} steps in here are not shown{failed}"
        parts.append(tag("li", tag("div", words, class_="bad" if node.left_out_failed else "soft")))
    inside = tag("ul", parts)
    return tag("li", tag("details", tag("summary", line), inside, open=True))


def _line(node: Node, trace: Trace) -> list[Child]:
    words, tone = _KINDS[node.kind]
    texts: list[Child] = [
        badge(words, tone),
        foreign(shorten(node.name, 80), "b"),
        badge("failed", "bad", "✗") if node.failed else None,
        badge("no result", "doubt", "!") if node.open else None,
        [group(badge("odd", "doubt", "!"), " ", foreign(shorten(one, 200), class_="soft")) for one in node.notes],
        foreign(shorten(node.words, 200), class_="soft said-there") if node.words else None,
    ]
    times: list[Child] = []
    if node.tokens is not None:
        times.append(tag("span", f"{node.tokens:,} tokens", class_="soft"))
    if trace.total_ms is not None:
        times += [tag("span", millis(node.took_ms), class_="num"), _bar(node, trace.total_ms)]
    return [tag("span", texts, class_="what"), tag("span", times, class_="when") if times else None]


def _bar(node: Node, total: float) -> Markup | None:
    """A bar that shows when a step began and how long it took within the whole run."""
    if node.begin_ms is None or node.took_ms is None or total <= 0:
        return None
    begin = 100 * min(max(node.begin_ms / total, 0.0), 1.0)
    width = min(max(100 * node.took_ms / total, 0.6), 100 - begin)
    tone = "fill bad" if node.failed else "fill"
    label = f"from {millis(node.begin_ms)} on, for {millis(node.took_ms)}"
    return tag(
        "svg",
        tag("title", label),
        tag("rect", class_="track", x=0, y=2, width=100, height=4),
        tag("rect", class_=tone, x=round(begin, 2), y=0, width=round(width, 2), height=8),
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        class_="span-bar",
        role="img",
    )
