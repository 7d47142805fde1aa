"""Wake-ups between the processes of a site: PostgreSQL's LISTEN and NOTIFY, on one connection of each process.

A notification says that there may be something to read; the rows are the truth. SQLite has none, and a pooler in
front of PostgreSQL may lose them: whoever follows rows asks `is_listening`, and looks by itself where that is false.
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
"""How long a round trip vouches for the connection."""
PROBE_SECONDS: Final = 2.0
RETRY_SECONDS: Final = (0.2, 1.0, 2.0, 5.0, 10.0, 30.0)
IDLE_SECONDS: Final = 60.0
"""How long the connection stays open when nobody listens any more: a page that is changed for another one closes the
last websocket and opens the next."""


def notify(channel: str, payload: str = "") -> None:
    """Wake every process that listens to the channel, when the caller's transaction is committed. Nothing on SQLite.

    Raises `ValueError` where the payload is too long for PostgreSQL.
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
    """A listener to one channel, until it is closed. Both functions are called from the thread that listens."""

    def __init__(
        self, channel: str, receive: Callable[[str], None], lost: Callable[[], None]
    ) -> None:
        self.channel = channel
        self.receive = receive
        self.lost = lost

    def close(self) -> None:
        """Call neither function any more, but for a call that has begun."""
        _listener.remove(self)


def listen(
    channel: str, receive: Callable[[str], None], *, lost: Callable[[], None]
) -> Subscription:
    """Call `receive(payload)` for every notification, and `lost()` whenever some may have been missed.

    `lost` is called when listening has begun or begun again, when the connection ends, and at each attempt to open it
    that fails. On SQLite neither is ever called.
    """
    subscription = Subscription(channel, receive, lost)
    if connection.vendor == "postgresql":
        _listener.add(subscription)
    return subscription


def is_listening() -> bool:
    """Return whether everything that was notified up to `CONFIRMED_SECONDS` ago has been handed to its listeners."""
    return _listener.is_confirmed()


def stop_listening() -> None:
    """End the thread and its connection; the next `listen` begins anew. Subscriptions that are open stay."""
    _listener.stop()


class _NotDelivered(Exception):
    """What was notified over an ordinary connection did not arrive at the one that listens."""


class _Listener:
    """The thread of this process that listens, for as long as somebody wants to hear."""

    def __init__(self) -> None:
        self._subscriptions: dict[str, list[Subscription]] = defaultdict(list)
        self._last_used = 0.0
        self.reset()

    def reset(self) -> None:
        """Begin without a thread: also in a child process, to which none is passed on."""
        self._lock = Lock()
        self._thread: BackgroundLoop | None = None
        self._must_end = False
        self._failures = 0
        self._confirmed_at = float("-inf")
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)

    def add(self, subscription: Subscription) -> None:
        with self._lock:
            if not self._subscriptions[subscription.channel]:
                self._confirmed_at = float("-inf")  # until the thread listens to this channel too
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
        """Start the thread unless it runs. The caller holds the lock."""
        if self._thread is None:
            self._last_used = time.monotonic()
            self._thread = BackgroundLoop("notifications", self._listen)
            self._thread.start()

    def _wake(self) -> None:
        with suppress(BlockingIOError):  # full of wake-ups already
            self._writer.send(b"\0")

    def _listen(self) -> bool:
        """Listen on one connection for as long as it lasts. Returns False when nobody wants to hear any more."""
        if self._has_ended():
            return False
        try:
            with self._connect() as listening:
                self._follow(listening)
            return False
        except (psycopg.Error, Error, OSError, _NotDelivered) as error:
            if not self._failures:
                logger.warning("no notifications from PostgreSQL, looking instead: %s", error)
            self._failures += 1
        finally:
            self._confirmed_at = float("-inf")
            with self._lock:
                everybody = [one for some in self._subscriptions.values() for one in some]
            for subscription in everybody:
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
        """Open a connection that notifications really arrive at. A pooler may give each statement another session,
        and LISTEN then does nothing."""
        parameters: dict[str, Any] = connection.get_connection_params()
        listening = psycopg.connect(**{**parameters, "autocommit": True})
        try:
            probe = f"probe_{uuid4().hex}"
            listening.execute(sql.SQL("LISTEN {}").format(sql.Identifier(probe)))
            try:
                notify(probe)
            finally:
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
        heard: set[str] = set()
        while not self._has_ended():
            with self._lock:
                wanted = set(self._subscriptions)
            for channel in wanted ^ heard:
                command = "LISTEN {}" if channel in wanted else "UNLISTEN {}"
                listening.execute(sql.SQL(command).format(sql.Identifier(channel)))
            # The server sends what was notified before it answers: after the answer all of it was handed on.
            asked_at = time.monotonic()
            listening.execute("SELECT 1")
            with self._lock:
                if wanted.issuperset(self._subscriptions):
                    self._confirmed_at = asked_at
                begun = [one for new in wanted - heard for one in self._subscriptions.get(new, ())]
            if self._failures:
                self._failures = 0
                logger.info("notifications from PostgreSQL arrive again")
            for subscription in begun:
                self._call(subscription.lost)
            heard = wanted
            # What arrives until the next round trip is handed on without one, which would cost as much as a write.
            is_woken = False
            while not is_woken and (left := asked_at + HEARTBEAT_SECONDS - time.monotonic()) > 0:
                is_woken = self._pause(left, listening.fileno())
                self._hand_on(listening)

    def _hand_on(self, listening: psycopg.Connection[Any]) -> None:
        """Hand on what has arrived; the server is asked nothing."""
        server = listening.pgconn
        server.consume_input()
        while (arrived := server.notifies()) is not None:
            if server.notify_handler is not None:
                server.notify_handler(arrived)

    def _pause(self, seconds: float, *files: int) -> bool:
        """Wait until something arrives, somebody wakes the thread, or for so long. Answers whether somebody did."""
        with selectors.DefaultSelector() as selector:  # `select` knows no file above the 1,024th
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
        except Exception:  # one listener that fails must not keep the others from hearing
            logger.exception("a listener to notifications failed")


_listener: Final = _Listener()
os.register_at_fork(after_in_child=_listener.reset)
atexit.register(stop_listening)
