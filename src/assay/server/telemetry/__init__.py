"""The telemetry of a server: metrics for Prometheus, traces and events for OpenTelemetry, a log line a request."""
