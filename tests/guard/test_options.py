"""Options that are kept until a check is made are refused at once where there are none such."""

import pytest

from assay.guard import AskedCheckOptions, CheckOptions, require_options
from assay.pytest import assert_supported


def test_options_that_there_are_pass() -> None:
    require_options({"stakes": "high", "task": "qa", "question": "How long?"}, CheckOptions)


def test_a_misspelt_option_is_refused_with_the_closest_one() -> None:
    with pytest.raises(TypeError, match="unexpected option 'staks'; did you mean 'stakes'"):
        require_options({"staks": "high"}, CheckOptions)


def test_what_a_caller_says_itself_is_no_option_of_its_own() -> None:
    with pytest.raises(TypeError, match="'question'"):
        require_options({"question": "How long?"}, AskedCheckOptions)


def test_a_name_like_no_other_is_refused_without_a_guess() -> None:
    with pytest.raises(TypeError, match=r"^unexpected option 'zzzz'$"):
        require_options({"zzzz": 1}, CheckOptions)


def test_an_assertion_in_a_test_refuses_one_before_it_checks() -> None:
    with pytest.raises(TypeError, match="did you mean 'policy'"):
        assert_supported("Leave is 2 weeks.", ["Leave is 2 weeks."], polcy="rag")  # type: ignore[call-arg]
