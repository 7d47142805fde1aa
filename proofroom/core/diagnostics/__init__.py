"""Diagnostics of the running site: its log, its commands, its responses. Only for credentials with diagnostics."""
