"""A text cut into lines, tables and sentences, each with its exact place."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.text.sentences.code_identifiers import forbids as forbids
    from assay.text.sentences.code_identifiers import is_code_name as is_code_name
    from assay.text.sentences.code_identifiers import place_of as place_of
    from assay.text.sentences.code_identifiers import setting_of as setting_of
    from assay.text.sentences.hidden_characters import hidden_places as hidden_places
    from assay.text.sentences.languages import BESIDE_ENGLISH as BESIDE_ENGLISH
    from assay.text.sentences.languages import UNSTATED as UNSTATED
    from assay.text.sentences.languages import is_common_word as is_common_word
    from assay.text.sentences.languages import is_foreign_word as is_foreign_word
    from assay.text.sentences.languages import language as language
    from assay.text.sentences.languages import leans_from_english as leans_from_english
    from assay.text.sentences.languages import script_of as script_of
    from assay.text.sentences.languages import votes_of as votes_of
    from assay.text.sentences.line_structure import blocks as blocks
    from assay.text.sentences.splitting import Sentence as Sentence
    from assay.text.sentences.splitting import split_sentences as split_sentences
    from assay.text.sentences.tables import Table as Table
    from assay.text.sentences.tables import TableCell as TableCell
    from assay.text.sentences.tables import read_tables as read_tables
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".code_identifiers": ("forbids", "is_code_name", "place_of", "setting_of"),
            ".hidden_characters": ("hidden_places",),
            ".languages": (
                "BESIDE_ENGLISH",
                "UNSTATED",
                "is_common_word",
                "is_foreign_word",
                "language",
                "leans_from_english",
                "script_of",
                "votes_of",
            ),
            ".line_structure": ("blocks",),
            ".splitting": ("Sentence", "split_sentences"),
            ".tables": ("Table", "TableCell", "read_tables"),
        },
    )
