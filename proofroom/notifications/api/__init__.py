"""The API of notifications."""
