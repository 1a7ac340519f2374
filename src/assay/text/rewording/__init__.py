"""Rewords statements: an answer joined to its question, a denial, the same statement with another value."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.text.rewording.agreed_statements import AgreedStatement as AgreedStatement
    from assay.text.rewording.agreed_statements import agreed_statement as agreed_statement
    from assay.text.rewording.agreed_statements import value_alone as value_alone
    from assay.text.rewording.negation import denial_of as denial_of
    from assay.text.rewording.question_topics import question_parts as question_parts
    from assay.text.rewording.short_answers import agrees as agrees
    from assay.text.rewording.short_answers import answer_as_statement as answer_as_statement
    from assay.text.rewording.short_answers import asked_statement as asked_statement
    from assay.text.rewording.short_answers import denied_statement as denied_statement
    from assay.text.rewording.value_substitution import value_substitutions as value_substitutions
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".agreed_statements": ("AgreedStatement", "agreed_statement", "value_alone"),
            ".negation": ("denial_of",),
            ".question_topics": ("question_parts",),
            ".short_answers": ("agrees", "answer_as_statement", "asked_statement", "denied_statement"),
            ".value_substitution": ("value_substitutions",),
        },
        renamed={"Agreed": "AgreedStatement"},
    )
