"""Times as PostgreSQL sends them.

Django's loader reads each with a regular expression and two sums of times: a fifteenth of what a feed of twenty posts
costs.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from django.db.backends.postgresql.psycopg_any import BaseTzLoader, get_adapters_template
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader


class DjangoLoader(BaseTzLoader):  # type: ignore[misc]  # Django's has no types
    timezone: Final = UTC


class UtcLoader(Loader):
    """Reads what a session in UTC sends with Python's own parser, and leaves all else to Django's loader."""

    timezone: Final = UTC  # Django compares it with the connection's

    def load(self, data: Buffer) -> datetime:
        text = bytes(data)
        if text.endswith(b"+00"):
            try:
                return datetime.fromisoformat(text.decode())
            except ValueError:
                pass  # a year that Python does not know, of which Django's says so
        loaded: datetime = DjangoLoader(self.oid, self.connection).load(data)
        return loaded


@lru_cache(maxsize=1)
def utc_adapters() -> AdaptersMap:
    """Those of Django for a connection in UTC, with this loader."""
    adapters = AdaptersMap(get_adapters_template(True, UTC))
    adapters.register_loader("timestamptz", UtcLoader)
    return adapters
