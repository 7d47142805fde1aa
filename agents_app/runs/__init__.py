"""Runs as rows: started, read, cancelled, waited for, swept, taken back."""
