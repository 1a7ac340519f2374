"""Numbers in, numbers out: metrics, calibration and intervals.

`assay.stats.metrics` needs nothing but the standard library; `classification` and `calibration` import numpy, so they
are not imported here.
"""
