"""Tokens put together from remembered words are those that the tokenizer gives for the whole text."""

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.tiny_models import UNKNOWN, write_tokenizer
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

from assay.models import word_tokens
from assay.models.manifest import EMBEDDED
from assay.models.pair_tokens import load_tokenizer, readable
from assay.models.word_tokens import WordMemory, divides_at_spaces, pair_form

EMBEDDED_TOKENIZER = EMBEDDED / "tokenizer.json"
SPACES = " \t\r\n\x0b\x0c\x1c\x85\xa0\u2003\u2028\u3000\u200b"
SIGNS = "aA9é\u0301\u0130ß\ufb01ﷺΣς的語\u0e01가\U0001f600\U0001f468\u200d[SEP]##.,-_'’$€%°\x00\ufffd\ud800"
TEXTS = st.text(st.sampled_from(SPACES + SIGNS) | st.characters(), max_size=60) | st.text(max_size=60)


def plain(path: Path = EMBEDDED_TOKENIZER) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


PLAIN = plain()
OURS = load_tokenizer(EMBEDDED_TOKENIZER)


@given(st.lists(TEXTS, max_size=6))
def test_texts_have_the_tokens_that_the_tokenizer_gives(texts: list[str]) -> None:
    whole = [len(PLAIN.encode(readable(text), add_special_tokens=False)) for text in texts]
    assert OURS.count(texts) == whole
    memory = WordMemory(PLAIN)
    assert memory.ids(list(map(readable, texts))) == [
        PLAIN.encode(readable(text), add_special_tokens=False).ids for text in texts
    ]


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4))
def test_pairs_have_the_tokens_and_types_that_the_tokenizer_gives(pairs: list[tuple[str, str]]) -> None:
    whole = [PLAIN.encode(readable(premise), readable(claim)) for premise, claim in pairs]
    assert [(t.ids, t.types) for t in OURS.encode(pairs)] == [(e.ids, e.type_ids) for e in whole]


def test_a_word_of_any_length_is_read_and_only_short_ones_are_remembered() -> None:
    memory = WordMemory(PLAIN)
    texts = ["short words", "x" * word_tokens.LONGEST_KEPT, "y" * (word_tokens.LONGEST_KEPT + 1)]
    expected = [PLAIN.encode(text, add_special_tokens=False).ids for text in texts]
    assert memory.ids(texts) == expected == memory.ids(texts)
    assert len(memory) == 3


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_tokens, "MOST_KEPT", 10)
    memory = WordMemory(PLAIN)
    for number in range(100):
        assert memory.count([f"word{number} again"]) == [len(PLAIN.encode(f"word{number} again")) - 2]
        assert len(memory) <= 10


def test_threads_that_share_a_memory_all_get_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_tokens, "MOST_KEPT", 50)
    memory = WordMemory(PLAIN)
    texts = [f"the {n} ferries of {n * 7} towns" for n in range(200)]
    expected = [PLAIN.encode(text, add_special_tokens=False).ids for text in texts]
    found: list[list[list[int]]] = []
    threads = [threading.Thread(target=lambda: found.append([memory.ids([t])[0] for t in texts])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_a_tokenizer_whose_tokens_reach_across_spaces_is_asked_for_whole_texts(tmp_path: Path) -> None:
    write_tokenizer(tmp_path / "tokenizer.json")
    assert divides_at_spaces(plain(tmp_path / "tokenizer.json"))
    joined = Tokenizer(models.BPE({"a": 0, "b": 1, "Ġ": 2, "aĠ": 3, "aĠb": 4}, [("a", "Ġ"), ("aĠ", "b")]))
    joined.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    assert not divides_at_spaces(joined)
    joined.save(str(tmp_path / "joined.json"))
    assert load_tokenizer(tmp_path / "joined.json").count(["a b", "b a"]) == [1, 3]


def test_a_token_that_was_added_by_hand_is_found_across_spaces(tmp_path: Path) -> None:
    write_tokenizer(tmp_path / "tokenizer.json")
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    tokenizer.add_tokens([AddedToken("north rain", normalized=False)])
    assert not divides_at_spaces(tokenizer)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert load_tokenizer(tmp_path / "tokenizer.json").count(["north rain", "rain north"]) == [1, 2]


def test_a_pair_that_is_put_together_in_another_way_has_no_form() -> None:
    tokenizer = Tokenizer(models.WordPiece({UNKNOWN: 0, "a": 1, "b": 2, "[CLS]": 3}, unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A", pair="[CLS] $B:1 [CLS] $A", special_tokens=[("[CLS]", 3)]
    )
    assert pair_form(tokenizer) is None
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A", pair="[CLS]:7 $A:2 $B:1 [CLS]:4 [CLS]:4", special_tokens=[("[CLS]", 3)]
    )
    form = pair_form(tokenizer)
    assert form is not None
    whole = tokenizer.encode("a b a", "b")
    assert (form.ids([1, 2, 1], [2]), form.type_ids(3, 1)) == (whole.ids, whole.type_ids)
