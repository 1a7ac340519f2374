"""Reading a section of settings: a mapping with known names, made into a dataclass."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from assay.errors import InputError

T = TypeVar("T")


def mapping_of(value: object, what: str) -> Mapping[str, Any]:
    """A section as a mapping; empty where it is left out.

    Args:
        value: the section.
        what: its name, for messages.

    Raises:
        InputError: it is not a mapping of names.
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise InputError(f"expected {what} to be a mapping of names, got {type(value).__name__}")
    return value


def require_known(values: Mapping[str, Any], known: set[str], what: str) -> None:
    """Checks that all names of a section are known.

    Args:
        values: the section.
        known: the known names.
        what: what they are names of, for messages.

    Raises:
        InputError: a name is unknown.
    """
    unknown = sorted(set(values) - known)
    if unknown:
        raise InputError(f"expected {what} among {', '.join(sorted(known))}; got {ascii(', '.join(unknown))[:200]}")


def require_number(name: str, value: float, valid: bool, expected: str, example: str) -> None:
    """Checks one number of a section.

    Args:
        name: the name of the setting.
        value: its value.
        valid: whether it is in its range. Ranges have an end, so that neither NaN nor infinity is in any.
        expected: the range in words.
        example: a value in it.

    Raises:
        InputError: it is not in its range, or true or false, which Python counts as 1 and 0.
    """
    if isinstance(value, bool) or not valid:
        raise InputError(f"`{name}`: expected {expected}, got {ascii(value)[:40]}; write for example {name}: {example}")


def section_of(kind: type[T], values: Mapping[str, Any], what: str) -> T:
    """A section as a dataclass whose fields are its settings.

    Args:
        kind: the dataclass, which checks its values itself.
        values: the settings.
        what: the name of the section, for messages.

    Raises:
        InputError: a setting is unknown, or its value is invalid or of another type.
    """
    require_known(values, {field.name for field in fields(kind)}, f"settings of {what}")  # type: ignore[arg-type]  # dataclasses all
    try:
        return kind(**values)
    except (TypeError, AttributeError) as error:  # a value of another type, where the dataclass compares or reads it
        raise InputError(f"{what}: a setting has a value of another kind than it should have: {error}") from error
