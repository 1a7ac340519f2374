"""What a server tells of itself: figures for Prometheus, traces and events for OpenTelemetry, a log line a request."""
