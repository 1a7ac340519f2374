"""Numbers in, numbers out: metrics, calibration and intervals."""
