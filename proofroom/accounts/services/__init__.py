"""Writes accounts: people, the accounts that agents write under, and API tokens."""
