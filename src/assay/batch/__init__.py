"""Checks of very many rows: read from many kinds of sources, judged by many processes, each with exactly one result."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.batch.engines import open_engine as open_engine
    from assay.batch.mapping import Mapped as Mapped
    from assay.batch.mapping import MappedWork as MappedWork
    from assay.batch.results import PARTS as PARTS
    from assay.batch.results import Totals as Totals
    from assay.batch.run import BatchSettings as BatchSettings
    from assay.batch.run import Progress as Progress
    from assay.batch.run import run_batch as run_batch
    from assay.batch.sources import open_sources as open_sources
    from assay.batch.sources import record_rows as record_rows
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".engines": ("open_engine",),
            ".mapping": ("Mapped", "MappedWork"),
            ".results": ("PARTS", "Totals"),
            ".run": ("BatchSettings", "Progress", "run_batch"),
            ".sources": ("open_sources", "record_rows"),
        },
    )
