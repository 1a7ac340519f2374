"""What a finding's code means and what to do about it, for every code that there is (docs/findings.md)."""

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
