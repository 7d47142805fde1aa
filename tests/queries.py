"""Count the queries of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

P = ParamSpec("P")


def count_queries(call: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> int:
    """Return the number of queries, without that of the session."""
    with CaptureQueriesContext(connection) as queries:
        call(*args, **kwargs)
    return sum("django_session" not in query["sql"] for query in queries)


def page_queries(client: Client, address: str) -> int:
    """Return the number of queries of a page that answers 200."""

    def read() -> None:
        assert client.get(address).status_code == 200

    return count_queries(read)
