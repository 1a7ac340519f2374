"""What leaves out a part of what it says is put in full, and is a claim as any other."""

import pytest

from assay.text.claims.ellipsis import complete_statement, read_labels, split_shared_predicate
from assay.text.claims.rule_extractor import RuleClaimExtractor
from assay.text.lexicon.tokens import tokenise


def claims(text: str, question: str | None = None) -> list[str]:
    return [claim.text for claim in RuleClaimExtractor().extract(text, question) if claim.checkable]


def test_so_was_says_of_another_what_the_sentence_before_says() -> None:
    assert claims("Export to PDF was added. So was the import.")[-1] == "The import was added."
    assert claims("Fire is covered. The same goes for floods.")[-1] == "Floods is covered."


def test_too_says_of_both_what_it_spells_out_once() -> None:
    assert claims("The soup is vegan, and the apple cake too.") == ["The soup is vegan.", "The apple cake is vegan."]
    assert split_shared_predicate("He came, and she left too.") is None


def test_none_answers_the_question_that_the_text_itself_asks() -> None:
    assert claims("Q: What is the excess?\nA: There is none.") == ["There is no excess."]
    assert complete_statement("There is none.", tokenise("Fire is covered."), "") is None


def test_signs_say_yes_and_no_of_the_names_beside_them() -> None:
    assert claims("Flood ✔ Fire ✘", "What is covered?") == ["Flood", "Fire: no"]
    assert claims("SO-7 ✅ paid 🚚 shipped") == ["SO-7: paid", "SO-7: shipped"]


@pytest.mark.parametrize("text", ["It is paid ✅", "Great job 🎉", "✅ Order SO-1 has been shipped"])
def test_a_sign_beside_a_sentence_says_nothing_by_itself(text: str) -> None:
    assert read_labels(text) == []


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("In my opinion four weeks is what the policy grants.", "Four weeks is what the policy grants."),
        ("Rest assured: a house that stands empty stays covered.", "A house that stands empty stays covered."),
        ("Isn't it generous that partners get four weeks?", "Partners get four weeks?"),
        ("Correct me if I'm wrong, but it's four weeks.", "It's four weeks."),
        ('<script>const note = "Flood is covered by it";</script>', "Flood is covered by it"),
        ("$t_{leave} = 4\\ \\text{weeks}$", "T leave = 4 weeks"),
    ],
)
def test_what_a_wrapping_carries_is_the_claim(text: str, claim: str) -> None:
    assert claim in claims(text, "How long is the leave?")


def test_what_somebody_would_like_is_not_stated_to_be_so() -> None:
    assert claims("You would like the address of W-17 changed.") == ["You would like the address of W-17 changed."]
