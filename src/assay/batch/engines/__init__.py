"""The engines that judge the pieces of a batch: worker processes of this machine, or actors of a Ray cluster."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.batch.engines.interface import Died as Died
    from assay.batch.engines.interface import Done as Done
    from assay.batch.engines.interface import Engine as Engine
    from assay.batch.engines.opening import open_engine as open_engine
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__, {".interface": ("Died", "Done", "Engine"), ".opening": ("open_engine",)}
    )
