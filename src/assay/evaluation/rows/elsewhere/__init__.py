"""Rows of other tools, whose fields a preset or `--map` maps to those of a row."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.evaluation.rows.elsewhere.presets import PRESETS as PRESETS
    from assay.evaluation.rows.elsewhere.presets import Preset as Preset
    from assay.evaluation.rows.elsewhere.translate import Translation as Translation
    from assay.evaluation.rows.elsewhere.translate import read_translation as read_translation
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {".presets": ("PRESETS", "Preset"), ".translate": ("Translation", "read_translation")},
    )
