"""Wake-ups between the processes of a site with PostgreSQL's LISTEN and NOTIFY, on one connection per process.

A notification only says that there may be something to read; the rows hold the state. SQLite has no notifications,
and a pooler in front of PostgreSQL may lose them. Code that follows rows must check `is_listening` and poll if it is
False.
"""

from __future__ import annotations

import atexit
import logging
import os
import selectors
import socket
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Any, Final
from uuid import uuid4

import psycopg
from django.db import Error, connection
from psycopg import sql

from proofroom.core.observability.background_loop import BackgroundLoop

logger = logging.getLogger(__name__)
PAYLOAD_MAX_BYTES: Final = 7999
HEARTBEAT_SECONDS: Final = 1.0
CONFIRMED_SECONDS: Final = 2.0
"""Seconds that a successful round trip confirms the connection."""
PROBE_SECONDS: Final = 2.0
RETRY_SECONDS: Final = (0.2, 1.0, 2.0, 5.0, 10.0, 30.0)
IDLE_SECONDS: Final = 60.0
"""Seconds that an unused connection stays open, because a user who opens the next page closes the last websocket and
opens a new one.
"""


def notify(channel: str, payload: str = "") -> None:
    """Wake all processes that listen to the channel, when the caller's transaction commits. Does nothing on SQLite.

    Raises `ValueError` if the payload is too long for PostgreSQL.
    """
    size = len(payload.encode())
    if size > PAYLOAD_MAX_BYTES:
        raise ValueError(
            f"the payload for {channel!r} has {size} bytes; PostgreSQL carries {PAYLOAD_MAX_BYTES}"
        )
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [channel, payload])


class Subscription:
    """A listener to one channel. The listening thread calls both functions."""

    def __init__(
        self, channel: str, receive: Callable[[str], None], lost: Callable[[], None]
    ) -> None:
        self.channel = channel
        self.receive = receive
        self.lost = lost

    def close(self) -> None:
        """Stop calling the functions. A call that has begun still finishes."""
        _listener.remove(self)


def listen(
    channel: str, receive: Callable[[str], None], *, lost: Callable[[], None]
) -> Subscription:
    """Call `receive(payload)` for every notification, and `lost()` if some may have been missed.

    `lost` is called when listening starts or restarts, when the connection ends, and at each failed attempt to open
    it. On SQLite neither is ever called.
    """
    subscription = Subscription(channel, receive, lost)
    if connection.vendor == "postgresql":
        _listener.add(subscription)
    return subscription


def is_listening() -> bool:
    """Return whether all notifications until `CONFIRMED_SECONDS` ago have been passed to their listeners."""
    return _listener.is_confirmed()


def stop_listening() -> None:
    """Stop the thread and its connection. The next `listen` restarts it; open subscriptions remain."""
    _listener.stop()


class _NotDelivered(Exception):
    """A notification sent over a normal connection did not arrive at the listening one."""


class _Listener:
    """The listening thread of this process, which runs while there are subscriptions."""

    def __init__(self) -> None:
        self._subscriptions: dict[str, list[Subscription]] = defaultdict(list)
        self._last_used = 0.0
        self.reset()

    def reset(self) -> None:
        """Start without a thread. Also called in a forked child, because threads do not survive a fork."""
        self._lock = Lock()
        self._thread: BackgroundLoop | None = None
        self._must_end = False
        self._failures = 0
        self._confirmed_at = float("-inf")
        # The thread waits in a selector; writing to this pair wakes it.
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)

    def add(self, subscription: Subscription) -> None:
        with self._lock:
            if not self._subscriptions[subscription.channel]:
                self._confirmed_at = float("-inf")  # until the thread listens to this channel, too
            self._subscriptions[subscription.channel].append(subscription)
            self._must_end = False
            self._start()
        self._wake()

    def remove(self, subscription: Subscription) -> None:
        with self._lock:
            others = self._subscriptions[subscription.channel]
            if subscription in others:
                others.remove(subscription)
            if not others:
                del self._subscriptions[subscription.channel]
            self._last_used = time.monotonic()
        self._wake()

    def is_confirmed(self) -> bool:
        if self._thread is None:  # in a child process
            with self._lock:
                if self._subscriptions and not self._must_end:
                    self._start()
        return time.monotonic() - self._confirmed_at < CONFIRMED_SECONDS

    def stop(self) -> None:
        thread = self._thread
        if thread is not None:
            self._must_end = True
            self._wake()
            thread.join(PROBE_SECONDS + HEARTBEAT_SECONDS)

    def _start(self) -> None:
        """Start the thread unless it is running. The caller holds the lock."""
        if self._thread is None:
            self._last_used = time.monotonic()
            self._thread = BackgroundLoop("notifications", self._listen)
            self._thread.start()

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # the pipe is full of wake-ups already
            self._writer.send(b"\0")

    def _listen(self) -> bool:
        """Listen on one connection as long as it lasts. Return False if there are no subscriptions left."""
        if self._has_ended():
            return False
        try:
            with self._connect() as listening:
                self._follow(listening)
            return False
        # psycopg's errors come from the listening connection, Django's from `notify`.
        except (psycopg.Error, Error, OSError, _NotDelivered) as error:
            if not self._failures:
                logger.warning("no notifications from PostgreSQL; polling instead: %s", error)
            self._failures += 1
        finally:
            self._confirmed_at = float("-inf")
            with self._lock:
                open_subscriptions = [one for some in self._subscriptions.values() for one in some]
            for subscription in open_subscriptions:
                self._call(subscription.lost)
        self._pause(RETRY_SECONDS[min(self._failures, len(RETRY_SECONDS)) - 1])
        return True

    def _has_ended(self) -> bool:
        with self._lock:
            is_idle = time.monotonic() - self._last_used > IDLE_SECONDS
            if self._must_end or (is_idle and not self._subscriptions):
                self._thread = None
                return True
        return False

    def _connect(self) -> psycopg.Connection[Any]:
        """Open a connection and verify that notifications arrive.

        Behind a pooler each statement may run in another session, where LISTEN has no effect.
        """
        parameters: dict[str, Any] = connection.get_connection_params()
        listening = psycopg.connect(**{**parameters, "autocommit": True})
        try:
            probe = f"probe_{uuid4().hex}"
            listening.execute(sql.SQL("LISTEN {}").format(sql.Identifier(probe)))
            try:
                notify(probe)
            finally:
                # This thread needs Django's connection only for the probe.
                connection.close()
            if not list(listening.notifies(timeout=PROBE_SECONDS, stop_after=1)):
                raise _NotDelivered("a pooler between may work in transaction mode")
            listening.execute(sql.SQL("UNLISTEN {}").format(sql.Identifier(probe)))
        except BaseException:
            listening.close()
            raise
        return listening

    def _follow(self, listening: psycopg.Connection[Any]) -> None:
        listening.add_notify_handler(self._receive)
        listened: set[str] = set()
        while not self._has_ended():
            with self._lock:
                wanted = set(self._subscriptions)
            for channel in wanted ^ listened:
                command = "LISTEN {}" if channel in wanted else "UNLISTEN {}"
                listening.execute(sql.SQL(command).format(sql.Identifier(channel)))
            # The server sends pending notifications before the result, so after it all of them have
            # been received.
            asked_at = time.monotonic()
            listening.execute("SELECT 1")
            with self._lock:
                if wanted.issuperset(self._subscriptions):
                    self._confirmed_at = asked_at
                begun = [
                    one for new in wanted - listened for one in self._subscriptions.get(new, ())
                ]
            if self._failures:
                self._failures = 0
                logger.info("notifications from PostgreSQL arrive again")
            # Notifications before LISTEN took effect were missed.
            for subscription in begun:
                self._call(subscription.lost)
            listened = wanted
            # Notifications until the next round trip are read without one, because a round trip
            # costs as much as a write.
            is_woken = False
            while not is_woken and (left := asked_at + HEARTBEAT_SECONDS - time.monotonic()) > 0:
                is_woken = self._pause(left, listening.fileno())
                self._pass_on(listening)

    def _pass_on(self, listening: psycopg.Connection[Any]) -> None:
        """Pass received notifications on, without a query."""
        server = listening.pgconn
        server.consume_input()
        while (arrived := server.notifies()) is not None:
            if server.notify_handler is not None:
                server.notify_handler(arrived)

    def _pause(self, seconds: float, *files: int) -> bool:
        """Wait for data, a wake-up or the timeout. Return True after a wake-up."""
        with (
            selectors.DefaultSelector() as selector
        ):  # `select` fails with file descriptors above 1,023
            for file in (self._reader.fileno(), *files):
                selector.register(file, selectors.EVENT_READ)
            ready = {key.fd for key, _ in selector.select(seconds)}
        is_woken = self._reader.fileno() in ready
        if is_woken:
            self._reader.recv(4096)
        return is_woken

    def _receive(self, notification: psycopg.Notify) -> None:
        with self._lock:
            subscriptions = list(self._subscriptions.get(notification.channel, ()))
        for subscription in subscriptions:
            self._call(subscription.receive, notification.payload)

    def _call(self, function: Callable[..., None], *arguments: str) -> None:
        try:
            function(*arguments)
        except Exception:  # one failing listener must not affect the others
            logger.exception("a listener for notifications failed")


_listener: Final = _Listener()
os.register_at_fork(after_in_child=_listener.reset)
atexit.register(stop_listening)
