"""What each code of a finding means and what to do about it, and what the words in a report mean (docs/findings.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from assay.errors import InputError


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of one code, or of a family of codes whose name ends with `*`."""

    code: str
    title: str
    """The finding in a few words."""
    meaning: str
    """What was found, and how."""
    remedy: str
    """What to do about it."""
    example: str = ""
    """A claim with this finding, and its evidence; empty where there is no example."""


@cache
def explanations() -> Mapping[str, Explanation]:
    """All explanations by code, in the order of `explanations.yaml`.

    Raises:
        InputError: that file is damaged.
    """
    entries = _read_yaml("explanations.yaml")
    try:
        return {
            code: Explanation(code, entry["title"], entry["means"], entry["do"], entry.get("example", ""))
            for code, entry in entries.items()
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"the explanations of the package are damaged ({error}); install it again") from error


def _read_yaml(name: str) -> Any:
    import yaml

    return yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def explanation_of(code: str) -> Explanation | None:
    """The explanation of a code, or `None`. Codes of a family, such as `tool.invented_email`, share an explanation.

    >>> explanation_of("tool.invented_email").code
    'tool.invented_*'
    """
    known = explanations()
    if code in known:
        return known[code]
    families = (entry for name, entry in known.items() if name.endswith("*") and code.startswith(name[:-1]))
    return max(families, key=lambda family: len(family.code), default=None)


@dataclass(frozen=True, slots=True)
class ReportWord:
    """One word that a field of a report may have as its value."""

    word: str
    field: str
    """The path of the field in a report, such as `decision.route`."""
    title: str
    """What the field says."""
    meaning: str
    """What the word means there."""


@cache
def report_words() -> Mapping[str, tuple[ReportWord, ...]]:
    """What the words of a report mean, by word. Several fields may use the same word, each in its own sense.

    >>> [entry.field for entry in report_words()["retrieval_miss"]]
    ['causes[].likely']

    Raises:
        InputError: `report_words.yaml` is damaged.
    """
    by_word: dict[str, tuple[ReportWord, ...]] = {}
    try:
        for field, entry in _read_yaml("report_words.yaml").items():
            for word, meaning in entry["words"].items():
                by_word[word] = (*by_word.get(word, ()), ReportWord(word, field, entry["title"], meaning))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"the words of the package are damaged ({error}); install it again") from error
    return by_word
