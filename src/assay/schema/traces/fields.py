"""Reads the fields of one item of a transcript and keeps track of unread ones, so that nothing is lost."""

from typing import Any, Literal, TypeVar, overload

from assay.schema.run.json_values import Fault, escaped, json_kind

_T = TypeVar("_T")


class Fields:
    """The fields of one item: each is taken once, and `rest` has those that were not taken.

    A field that is null is absent. A field of another type than expected stays in the rest, with a fault.

    >>> fields = Fields({"role": "user", "name": 7, "cache": {"ttl": "5m"}, "audio": None}, "/messages/0")
    >>> fields.text("role"), fields.text("name"), fields.rest()
    ('user', None, {'name': 7, 'cache': {'ttl': '5m'}})
    >>> fields.faults[0].message, fields.faults[0].place
    ('expected a string, got a number', '/messages/0/name')
    """

    def __init__(self, item: dict[str, Any], place: str) -> None:
        self.place = place
        self.faults: list[Fault] = []
        self._left = {key: value for key, value in item.items() if value is not None}

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def at(self, key: str) -> str:
        """The place of a field."""
        return f"{self.place}/{escaped(key)}"

    def peek(self, key: str) -> Any:
        """The value of a field without taking it."""
        return self._left.get(key)

    def any(self, key: str) -> Any:
        """Takes a field of any type."""
        return self._left.pop(key, None)

    @overload
    def text(self, key: str) -> str | None: ...
    @overload
    def text(self, key: str, default: str) -> str: ...
    def text(self, key: str, default: str | None = None) -> str | None:
        """Takes a text."""
        found = self._take(key, str, "a string")
        return default if found is None else found

    def object(self, key: str) -> dict[str, Any] | None:
        """Takes an object."""
        return self._take(key, dict, "an object")

    def items(self, key: str) -> list[Any] | None:
        """Takes an array."""
        return self._take(key, list, "an array")

    def boolean(self, key: str) -> bool | None:
        """Takes a boolean."""
        return self._take(key, bool, "a boolean")

    def number(self, key: str) -> float | None:
        """Takes a number; one that no float holds stays in the rest, with a fault."""
        value = self._left.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            self.fault("item.unexpected_type", f"expected a number, got {json_kind(value)}", key)
            return None
        try:
            number = None if value is None else float(value)
        except OverflowError:
            self.fault("item.unexpected_type", "expected a number that a float can hold, got a larger one", key)
            return None
        self._left.pop(key, None)
        return number

    def drop(self, key: str, *implied: str) -> None:
        """Removes a field whose value is one of `implied`: the normal form expresses it in another way."""
        if self._left.get(key) in implied:
            del self._left[key]

    def keep(self, key: str, value: Any) -> None:
        """Puts a field back into the rest, with what was not taken of it."""
        self._left[key] = value

    def fault(self, code: str, message: str, key: str | None = None) -> None:
        """Adds a fault of the item, or of one of its fields."""
        self.faults.append(Fault(code=code, message=message, place=self.place if key is None else self.at(key)))

    def rest(self) -> dict[str, Any]:
        """The fields that were not taken."""
        return dict(self._left)

    def step(self) -> "dict[Literal['place', 'faults', 'extra'], Any]":
        """The fields that every step has, from what was read; call it last."""
        return {"place": self.place, "faults": tuple(self.faults), "extra": self.rest()}

    def _take(self, key: str, kind: type[_T], name: str) -> _T | None:
        value = self._left.get(key)
        if value is None:
            return None
        if not isinstance(value, kind):
            self.fault("item.unexpected_type", f"expected {name}, got {json_kind(value)}", key)
            return None
        del self._left[key]
        return value


def merged(outer: Fields, inner: Fields, key: str) -> dict[str, Any]:
    """The rests of an item and of the object from its field `key`; the latter stays nested where a name is in both."""
    left, nested = outer.rest(), inner.rest()
    return {**left, key: nested} if left.keys() & nested.keys() else left | nested


def numbered(items: list[Any], place: str) -> list[tuple[str, Any]]:
    """The items of an array, each with its place."""
    return [(f"{place}/{index}", item) for index, item in enumerate(items)]
