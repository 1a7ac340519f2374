"""Columns out of a text, for tables and migrations alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.store.db.columns import columns

TYPES = ("text", "int", "long", "number", "flag", "bytes", "json")
NAMES = st.from_regex(r"[a-z][a-z_]{0,20}", fullmatch=True)


@given(st.lists(st.tuples(NAMES, st.sampled_from(TYPES), st.booleans()), min_size=1, max_size=10))
def test_every_column_has_the_name_and_nullability_that_is_written(listed: list[tuple[str, str, bool]]) -> None:
    text = ",\n  ".join(f"{name} {kind}{'?' if null else ''}" for name, kind, null in listed)
    assert [(one.name, one.nullable) for one in columns(text)] == [(name, null) for name, _, null in listed]


@pytest.mark.parametrize("wrong", ["", "id", "id texts", "id text null", "id text,", "id ?text"])
def test_what_is_no_name_and_type_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="not a column"):
        columns(wrong)
