"""A text split into blocks, tables and sentences, each with its exact place."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.text.sentences.code_identifiers import find_code_name as find_code_name
    from assay.text.sentences.code_identifiers import forbids as forbids
    from assay.text.sentences.code_identifiers import is_code_name as is_code_name
    from assay.text.sentences.code_identifiers import parse_setting as parse_setting
    from assay.text.sentences.hidden_characters import find_hidden_characters as find_hidden_characters
    from assay.text.sentences.languages import OTHER_LANGUAGES as OTHER_LANGUAGES
    from assay.text.sentences.languages import UNSTATED as UNSTATED
    from assay.text.sentences.languages import is_common_word as is_common_word
    from assay.text.sentences.languages import is_foreign_word as is_foreign_word
    from assay.text.sentences.languages import language as language
    from assay.text.sentences.languages import language_votes as language_votes
    from assay.text.sentences.languages import looks_foreign as looks_foreign
    from assay.text.sentences.languages import script_of as script_of
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
            ".code_identifiers": ("forbids", "is_code_name", "find_code_name", "parse_setting"),
            ".hidden_characters": ("find_hidden_characters",),
            ".languages": (
                "OTHER_LANGUAGES",
                "UNSTATED",
                "is_common_word",
                "is_foreign_word",
                "language",
                "looks_foreign",
                "script_of",
                "language_votes",
            ),
            ".line_structure": ("blocks",),
            ".splitting": ("Sentence", "split_sentences"),
            ".tables": ("Table", "TableCell", "read_tables"),
        },
        renamed={
            "BESIDE_ENGLISH": "OTHER_LANGUAGES",
            "hidden_places": "find_hidden_characters",
            "leans_from_english": "looks_foreign",
            "place_of": "find_code_name",
            "setting_of": "parse_setting",
            "votes_of": "language_votes",
        },
    )
