"""Answers checked against their evidence in tests (docs/pytest.md).

    from assay.pytest import assert_supported

    def test_the_answer_keeps_to_the_handbook() -> None:
        assert_supported(answer_of("How long is leave?"), evidence=["Partners are entitled to 2 weeks of leave."])

`assert_supported` needs no pytest; the fixture, the marker and the summary come with the plugin `assay.pytest.plugin`,
which pytest finds by its entry point.
"""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.pytest.assertions import AssayGuard as AssayGuard
    from assay.pytest.assertions import UnsupportedAnswerError as UnsupportedAnswerError
    from assay.pytest.assertions import aassert_supported as aassert_supported
    from assay.pytest.assertions import assert_supported as assert_supported
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {".assertions": ("AssayGuard", "UnsupportedAnswerError", "aassert_supported", "assert_supported")},
    )
