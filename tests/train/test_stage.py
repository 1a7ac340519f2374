"""What a further stage reads."""

from train.rows import Row
from train.stage import rehearsed


def rows(batch: str, groups: int) -> list[Row]:
    return [
        Row(f"scenario:{batch}", ("e",), f"claim {number}", "supported", group=f"{batch}-{number // 3}/0")
        for number in range(3 * groups)
    ]


def test_fresh_batches_are_read_whole_and_of_the_others_a_share_of_whole_groups() -> None:
    found = rehearsed([*rows("new", 10), *rows("old", 40)], frozenset({"new"}), 0.25, seed=3)
    old = [row for row in found if row.source == "scenario:old"]
    assert sum(row.source == "scenario:new" for row in found) == 30
    assert len(old) == 30
    assert all(sum(row.group == one.group for row in old) == 3 for one in old)


def test_a_share_of_one_leaves_everything_and_of_none_only_the_fresh() -> None:
    every = [*rows("new", 4), *rows("old", 4)]
    assert rehearsed(every, frozenset({"new"}), 1.0, seed=3) == every
    assert rehearsed(every, frozenset({"new"}), 0.0, seed=3) == rows("new", 4)


def test_what_is_made_of_a_claim_goes_with_its_batch() -> None:
    twin = Row("scenario:old:twin", ("e",), "twin", "supported", group="old-0/0")
    assert rehearsed([twin], frozenset({"new"}), 0.0, seed=3) == []
