"""Words: stems, tags, names, identifiers, synonyms, antonyms and negation."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.text.lexicon.antonyms import CONVERSES as CONVERSES
    from assay.text.lexicon.antonyms import DIRECTIONS as DIRECTIONS
    from assay.text.lexicon.antonyms import OPPOSITES as OPPOSITES
    from assay.text.lexicon.antonyms import opposites as opposites
    from assay.text.lexicon.identifiers import Identifier as Identifier
    from assay.text.lexicon.identifiers import IdentifierKind as IdentifierKind
    from assay.text.lexicon.identifiers import find_identifiers as find_identifiers
    from assay.text.lexicon.lexemes import STOP_WORDS as STOP_WORDS
    from assay.text.lexicon.lexemes import Lexeme as Lexeme
    from assay.text.lexicon.lexemes import Words as Words
    from assay.text.lexicon.lexemes import content_stems as content_stems
    from assay.text.lexicon.lexemes import find_words as find_words
    from assay.text.lexicon.lexemes import lexeme as lexeme
    from assay.text.lexicon.lexemes import stem as stem
    from assay.text.lexicon.lexemes import word_list as word_list
    from assay.text.lexicon.lexemes import word_set as word_set
    from assay.text.lexicon.names import Name as Name
    from assay.text.lexicon.names import find_acronyms as find_acronyms
    from assay.text.lexicon.names import find_names as find_names
    from assay.text.lexicon.other_negations import GRAMMARS as GRAMMARS
    from assay.text.lexicon.other_negations import Grammar as Grammar
    from assay.text.lexicon.other_negations import NegationReading as NegationReading
    from assay.text.lexicon.other_negations import read_negations as read_negations
    from assay.text.lexicon.polarity import NEGATIONS as NEGATIONS
    from assay.text.lexicon.polarity import POLARITY_CUES as POLARITY_CUES
    from assay.text.lexicon.polarity import Condition as Condition
    from assay.text.lexicon.polarity import Negation as Negation
    from assay.text.lexicon.polarity import find_conditions as find_conditions
    from assay.text.lexicon.polarity import find_negations as find_negations
    from assay.text.lexicon.similarity import MOST_CHARACTERS as MOST_CHARACTERS
    from assay.text.lexicon.similarity import group_similar as group_similar
    from assay.text.lexicon.synonyms import GENERIC_NOUNS as GENERIC_NOUNS
    from assay.text.lexicon.synonyms import LIGHT_VERBS as LIGHT_VERBS
    from assay.text.lexicon.synonyms import PRONOUNS as PRONOUNS
    from assay.text.lexicon.synonyms import SYNONYMS as SYNONYMS
    from assay.text.lexicon.tokens import NUMBER_WORDS as NUMBER_WORDS
    from assay.text.lexicon.tokens import Token as Token
    from assay.text.lexicon.tokens import render as render
    from assay.text.lexicon.tokens import tokenise as tokenise
    from assay.text.lexicon.verbs import MODAL as MODAL
    from assay.text.lexicon.verbs import PARTICIPLE as PARTICIPLE
    from assay.text.lexicon.verbs import SAYING as SAYING
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".antonyms": ("CONVERSES", "DIRECTIONS", "OPPOSITES", "opposites"),
            ".identifiers": ("Identifier", "IdentifierKind", "find_identifiers"),
            ".lexemes": (
                "Lexeme",
                "STOP_WORDS",
                "Words",
                "content_stems",
                "find_words",
                "lexeme",
                "stem",
                "word_list",
                "word_set",
            ),
            ".names": ("Name", "find_acronyms", "find_names"),
            ".other_negations": ("GRAMMARS", "Grammar", "NegationReading", "read_negations"),
            ".polarity": ("Condition", "NEGATIONS", "Negation", "POLARITY_CUES", "find_conditions", "find_negations"),
            ".similarity": ("MOST_CHARACTERS", "group_similar"),
            ".synonyms": ("GENERIC_NOUNS", "LIGHT_VERBS", "PRONOUNS", "SYNONYMS"),
            ".tokens": ("NUMBER_WORDS", "Token", "render", "tokenise"),
            ".verbs": ("MODAL", "PARTICIPLE", "SAYING"),
        },
        renamed={"Spelled": "NegationReading", "grouped": "group_similar", "spelled": "read_negations"},
    )
