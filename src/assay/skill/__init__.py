"""The skill: checks the answers of coding agents as they end, with a verdict for each and metrics over all."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.skill.checking import SkillCheck as SkillCheck
    from assay.skill.checking import Verification as Verification
    from assay.skill.hook import Turn as Turn
    from assay.skill.hook import answer_hook as answer_hook
    from assay.skill.hook import read_turn as read_turn
    from assay.skill.installing import CLIENTS as CLIENTS
    from assay.skill.installing import install as install
    from assay.skill.ledger import Ledger as Ledger
    from assay.skill.ledger import Totals as Totals
    from assay.skill.settings import SkillSettings as SkillSettings
    from assay.skill.settings import read_settings as read_settings
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".checking": ("SkillCheck", "Verification"),
            ".hook": ("Turn", "answer_hook", "read_turn"),
            ".installing": ("CLIENTS", "install"),
            ".ledger": ("Ledger", "Totals"),
            ".settings": ("SkillSettings", "read_settings"),
        },
    )
