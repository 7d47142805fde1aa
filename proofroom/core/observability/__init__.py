"""Observability: ids in log records, spans, metrics, errors, and timings for staff."""
