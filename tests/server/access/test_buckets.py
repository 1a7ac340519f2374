"""Limits of rate: never more than promised, in memory that has an end, and told with when to come again."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tests.server.access.desk import desk_over

from assay.schema.access import Permission
from assay.server.access.rate_limits import Buckets, retry_after
from assay.server.access.settings import AccessSettings


class Time:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@given(
    rate=st.floats(0.01, 100),
    burst=st.floats(0.1, 50),
    pauses=st.lists(st.floats(-5, 10, allow_nan=False), max_size=200),
)
def test_no_more_pass_than_the_burst_and_what_came_back(rate: float, burst: float, pauses: list[float]) -> None:
    time = Time()
    buckets = Buckets(rate, burst, clock=time)
    passed = 0
    forward = 0.0
    for pause in pauses:
        time.now += pause
        forward += max(0.0, pause)
        passed += buckets.take("a") == 0
    assert passed <= max(1.0, burst) + forward * rate + 1e-6


@given(rate=st.floats(0.01, 100), burst=st.floats(1, 20), extra=st.integers(1, 20))
def test_who_waits_as_long_as_told_passes(rate: float, burst: float, extra: int) -> None:
    time = Time()
    buckets = Buckets(rate, burst, clock=time)
    for _ in range(int(burst) + extra):
        wait = buckets.take("a")
        time.now += wait + 1e-6
        if wait:
            assert buckets.wait("a") == 0
            assert buckets.take("a") == 0


def test_one_caller_does_not_take_from_another() -> None:
    buckets = Buckets(1, 2, clock=Time())
    assert [buckets.take("a") for _ in range(3)] == [0, 0, 1]
    assert buckets.take("b") == 0


def test_only_so_many_callers_are_remembered() -> None:
    buckets = Buckets(1, 1, most=100, clock=Time())
    for number in range(10_000):
        buckets.take(str(number))
    assert len(buckets) == 100
    assert buckets.take("9999") > 0


def test_a_wait_is_told_in_whole_seconds() -> None:
    assert [retry_after(seconds) for seconds in (0.0, 0.1, 1.0, 1.1, 900)] == [b"1", b"1", b"1", b"2", b"900"]


def test_a_key_a_person_and_a_stranger_are_each_held_to_their_rate(database: Path) -> None:
    told = AccessSettings(
        key_rate=0.01, key_burst=3, user_rate=0.01, user_burst=2, stranger_rate=0.01, stranger_burst=4
    )
    with desk_over(database, access=told) as desk:
        program, ada = desk.with_key(Permission.READ), desk.signed_in()
        assert [program.ask("GET", "/v1/me").status for _ in range(4)] == [200, 200, 200, 429]
        assert [ada.ask("GET", "/v1/me").status for _ in range(3)] == [200, 200, 429]
        guesser = desk.client(key="assay_guess_guess")
        answers = [guesser.ask("GET", "/v1/me") for _ in range(5)]
        assert [one.status for one in answers] == [401, 401, 401, 401, 429]
        assert answers[-1].code == "rate.exceeded"
        assert answers[-1].header("content-type") == "application/problem+json"
        assert int(answers[-1].header("retry-after") or 0) > 50
        assert desk.client(address="10.9.8.7", key="assay_guess_guess").ask("GET", "/v1/me").status == 401
