"""What a finding's code means and what to do about it, and what each word of a report means (docs/findings.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assay.errors import InputError


@dataclass(frozen=True, slots=True)
class Explanation:
    """What one code means."""

    code: str
    title: str
    """What is so, in a few words."""
    meaning: str
    """What was found, and how."""
    remedy: str
    """What to do about it."""
    example: str = ""
    """A claim that it is found on, with the evidence."""


@cache
def explanations() -> Mapping[str, Explanation]:
    """All explanations by code, in the order of the file.

    Raises:
        InputError: the file of the package is damaged.
    """
    import yaml

    text = Path(__file__).with_name("explanations.yaml").read_text(encoding="utf-8")
    value = yaml.safe_load(text)
    try:
        return {
            code: Explanation(code, one["title"], one["means"], one["do"], one.get("example", ""))
            for code, one in value.items()
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"the explanations of the package are damaged ({error}); install it again") from error


def explanation_of(code: str) -> Explanation | None:
    """What a code means, or none. Codes of a family, such as `tool.invented_email`, share an explanation.

    >>> explanation_of("tool.invented_email").code
    'tool.invented_*'
    """
    found = explanations()
    if code in found:
        return found[code]
    families = (one for name, one in found.items() if name.endswith("*") and code.startswith(name[:-1]))
    return max(families, key=lambda one: len(one.code), default=None)


@dataclass(frozen=True, slots=True)
class ReportWord:
    """One word that a field of a report may have."""

    word: str
    field: str
    """The path of the field in a report, such as `decision.route`."""
    title: str
    """What the field says."""
    meaning: str


@cache
def report_words() -> Mapping[str, tuple[ReportWord, ...]]:
    """What the words of a report mean, by word; a word may be one of several fields.

    >>> [one.field for one in report_words()["retrieval_miss"]]
    ['causes[].likely']

    Raises:
        InputError: the file of the package is damaged.
    """
    import yaml

    value = yaml.safe_load(Path(__file__).with_name("report_words.yaml").read_text(encoding="utf-8"))
    found: dict[str, tuple[ReportWord, ...]] = {}
    try:
        for field, one in value.items():
            for word, meaning in one["words"].items():
                found[word] = (*found.get(word, ()), ReportWord(word, field, one["title"], meaning))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"the words of the package are damaged ({error}); install it again") from error
    return found
