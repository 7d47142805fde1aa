"""Statements executed with libpq alone, each prepared once per connection.

A psycopg cursor builds a query, an adapter and a generator per statement, which costs the caller 0.23 ms of CPU
instead of 0.04. Parsing and planning a statement again costs the server as much as the inserts of a new post.
"""

from __future__ import annotations

import re
import select
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import FeatureNotSupported, InvalidSqlStatementName, error_from_result
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from proofroom.core.database.event_loop_reads import WouldBlock, longest_wait
from proofroom.core.database.postgresql.outdated_plans import drop_plans
from proofroom.core.database.postgresql.pool import ConnectionPool

RV = TypeVar("RV")
MAX_PREPARED: Final = 200
_PLACEHOLDER: Final = re.compile("%([s%])")


class PreparedReads:
    """The prepared reads of one connection. The least recently used one is dropped if there are too many."""

    def __init__(self, connection: ReadingConnection) -> None:
        self._connection = connection
        self._names: OrderedDict[tuple[str, tuple[int, ...]], bytes] = OrderedDict()
        self._count = 0

    def is_ready(self, in_transaction: bool) -> bool:
        """Return whether the statement can be sent at once, possibly after starting its transaction."""
        connection = self._connection
        status = connection.pgconn.transaction_status
        if in_transaction:
            # Without autocommit, psycopg starts the transaction with its first statement.
            is_due = status == TransactionStatus.IDLE and not connection.autocommit
            return is_due or status == TransactionStatus.INTRANS
        return connection.autocommit and status == TransactionStatus.IDLE

    def rows(self, sql: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a statement with `%s` placeholders, with the same types as from a cursor."""
        connection = self._connection
        with connection.lock:
            connection.asked_at = time.monotonic()
            try:
                return self._rows(connection, sql, parameters)
            finally:
                connection.asked_at = None

    def _rows(
        self, connection: ReadingConnection, sql: str, parameters: Sequence[Any]
    ) -> list[tuple[Any, ...]]:
        adapter = Transformer(connection)
        values = adapter.dump_sequence(parameters, [PyFormat.AUTO] * len(parameters))
        key = (sql, tuple(adapter.types or ()))
        server = connection.pgconn
        status = server.transaction_status
        if status == TransactionStatus.IDLE and not connection.autocommit:
            self._begin()
        try:
            result = self._execute(key, values, adapter.formats)
        except FeatureNotSupported as error:
            drop_plans(connection, error, status)
            if not connection.autocommit:
                self._require_success(server.exec_(b"ROLLBACK"))
                self._begin()
            result = self._execute(key, values, adapter.formats)
        except InvalidSqlStatementName:
            # Other code deallocated the prepared statements, for example with DISCARD ALL.
            # Deallocate the rest: new statements get new names, so the old ones would stay as long
            # as the connection.
            names = [*self._names.values()]
            self.forget()
            if not connection.autocommit:
                raise  # the transaction has failed and cannot continue
            for name in names:
                self._deallocate(name)
            result = self._execute(key, values, adapter.formats)
        adapter.set_pgresult(result)
        return adapter.load_rows(0, result.ntuples, tuple)

    def forget(self) -> None:
        """Prepare all statements again under new names: the old ones may no longer exist on the server."""
        self._names.clear()

    def _begin(self) -> None:
        connection = self._connection
        self._require_success(connection.pgconn.exec_(connection._get_tx_start_command()))

    def _execute(
        self, key: tuple[str, tuple[int, ...]], values: Sequence[Any], formats: Any
    ) -> PGresult:
        server = self._connection.pgconn
        seconds = longest_wait()
        name = self._names.get(key)
        if name is None:
            self._count += 1
            name = b"read_%d" % self._count
            sql, types = _numbered(key[0]), key[1]
            if seconds is None:
                prepared = server.prepare(name, sql, types)
            else:
                prepared = self._answer_within(
                    seconds, partial(server.send_prepare, name, sql, types)
                )
            self._require_success(prepared)
            self._names[key] = name
            if len(self._names) > MAX_PREPARED:
                self._deallocate(self._names.popitem(last=False)[1])
        else:
            self._names.move_to_end(key)
        if seconds is None:
            result = server.exec_prepared(name, values, formats)
        else:
            result = self._answer_within(
                seconds, partial(server.send_query_prepared, name, values, formats)
            )
        self._require_success(result)
        return result

    def _answer_within(self, seconds: float, send: Callable[[], None]) -> PGresult:
        """Return the result if it arrives in time. Otherwise close the connection and raise `WouldBlock`."""
        server = self._connection.pgconn
        until = time.monotonic() + seconds
        poll = select.poll()
        poll.register(server.socket, select.POLLIN)
        send()
        server.flush()
        answer: PGresult | None = None
        while True:
            while server.is_busy():
                left = until - time.monotonic()
                if left <= 0 or not poll.poll(1000 * left):
                    # A late result would be taken for the result of the next statement.
                    self._connection.close()
                    raise WouldBlock
                server.consume_input()
            result = server.get_result()
            if result is None:
                break
            answer = result
        if answer is None:
            raise psycopg.OperationalError(server.get_error_message())
        return answer

    def _require_success(self, result: PGresult) -> None:
        """Raise the exception that a cursor would raise."""
        if result.status in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
            return
        if self._connection.pgconn.status != ConnStatus.OK:
            raise psycopg.OperationalError(result.get_error_message())
        raise error_from_result(result)

    def _deallocate(self, name: bytes) -> None:
        # An unknown name is an error, which does no harm outside of a transaction.
        self._connection.pgconn.exec_(b"DEALLOCATE " + name)


class ReadingConnection(psycopg.Connection[Any]):
    """A connection with prepared reads, and the time of its pending query (`answer_watch`)."""

    pool: ConnectionPool | None = None
    answer_seconds: float | None = None
    asked_at: float | None = None

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.opened_at = time.monotonic()
        self.reads = PreparedReads(self)

    def wait(self, gen: PQGen[RV], *arguments: Any, **settings: Any) -> RV:
        """Record the time of the query. Psycopg calls it for all statements of cursors."""
        self.asked_at = time.monotonic()
        try:
            return super().wait(gen, *arguments, **settings)
        finally:
            self.asked_at = None

    def _deallocate(self, name: bytes | None) -> PQGen[None]:
        """Forget prepared reads, too, if psycopg deallocates all statements, as after a rollback."""
        if name is None:
            self.reads.forget()
        return super()._deallocate(name)


@lru_cache(maxsize=1000)
def _numbered(sql: str) -> bytes:
    """Return the query with PostgreSQL's placeholders: `$1` for the first `%s`."""
    parts = _PLACEHOLDER.split(sql)
    number = 0
    for place in range(1, len(parts), 2):
        if parts[place] == "s":
            number += 1
            parts[place] = f"${number}"
    return "".join(parts).encode()
