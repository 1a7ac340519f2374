"""Traces of OpenTelemetry with the conventions for generative AI."""
