"""Thresholds, presets, severity and the gate: the deciding core."""
