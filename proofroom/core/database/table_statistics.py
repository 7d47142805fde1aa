"""What the planner of a database knows of tables that one transaction fills."""

from __future__ import annotations

from django.db import connection
from django.db.models import Model


def refresh_statistics(*models: type[Model]) -> None:
    """Have PostgreSQL count what these tables hold now, with the rows of this transaction.

    Without, it expects few different values in them, and reads a whole table for each list of ids: the time of a
    large import would grow with the square of its rows. Other databases need no such help.
    """
    if connection.vendor == "postgresql":
        tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in models)
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {tables}")
