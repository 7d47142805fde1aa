"""What operators see of the work: ids in every log record, spans, metrics, errors, and timings for staff."""
