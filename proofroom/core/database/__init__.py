"""Additions to Django's database backends for SQLite and PostgreSQL."""
