"""Planner statistics of tables that a transaction fills."""

from __future__ import annotations

from django.db import connection
from django.db.models import Model


def refresh_statistics(*models: type[Model]) -> None:
    """Analyze these tables, including the rows of this transaction. PostgreSQL only.

    Without it the planner expects few distinct values and reads the whole table for each list of ids, so that the
    time of a large import would grow with the square of its rows. Other databases don't need it.
    """
    if connection.vendor == "postgresql":
        tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in models)
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {tables}")
