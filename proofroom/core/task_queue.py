"""Messages to workers, and failures to queue them.

A message only wakes a worker, and the rows hold the state, so an unavailable broker does no harm. A failure is logged
once and stored for the admin and the doctor.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Final, cast

from django.conf import settings
from django.db import DatabaseError, InterfaceError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from proofroom.core.json import Json
from proofroom.core.models import QueueFailure
from proofroom.core.redaction import SecretRedactor, redact_credentials

if TYPE_CHECKING:
    from celery import Celery

logger = logging.getLogger(__name__)
WRITE_INTERVAL: Final = 60.0
"""Seconds between two writes of the same failure by one process."""
ACUTE_FAILURE_AGE: Final = timedelta(minutes=10)
FAILURE_LIFETIME: Final = timedelta(days=1)
_TEXT_MAX: Final = 500


def advice_for_imports() -> str:
    return _("install requirements.lock where the project runs, and restart it")


@dataclass(frozen=True, slots=True)
class Cause:
    """The reason why a message could not be queued, without secrets."""

    error: str
    text: str

    @property
    def advice(self) -> str:
        if self.error in ("ImportError", "ModuleNotFoundError"):
            return advice_for_imports()
        return _("check REDIS_URL and whether the server is running")


def missing_import(error: BaseException) -> ImportError | None:
    """Return the import error among the causes of an error; None if there is none."""
    link: BaseException | None = error
    while link is not None and not isinstance(link, ImportError):
        link = link.__cause__ or link.__context__
    return link


def cause_of(error: Exception) -> Cause:
    found = missing_import(error) or error
    name = type(found).__name__
    try:
        text = SecretRedactor().known(redact_credentials(str(found)))
    except (DatabaseError, InterfaceError):  # the redactor reads secrets from the database
        text = ""
    return Cause(name, text[:_TEXT_MAX] or name)


@dataclass(slots=True)
class QueueWatch:
    """The state of the queue as known from this process's last messages."""

    started_at: datetime = field(default_factory=timezone.now)
    is_known: bool = False
    logged: set[str] = field(default_factory=set)
    written: dict[str, float] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def failed(self, what: str, error: Exception) -> None:
        """Log the first failure of its kind and store it.

        Never raises, because the caller's write has already succeeded.
        """
        cause = cause_of(error)
        with self.lock:
            is_new = cause.error not in self.logged
            self.logged.add(cause.error)
            is_due = time.monotonic() >= self.written.get(cause.error, 0.0)
            if is_due:
                self.written[cause.error] = time.monotonic() + WRITE_INTERVAL
        if is_new:
            logger.error(
                "cannot queue %s (%s); the sweep will. Logged once until a message is queued again",
                what,
                cause.text.rstrip("."),
                exc_info=error,
            )
        if is_due:
            self._write(cause)

    def worked(self) -> None:
        """Clear stored failures after a message was queued: this process's, and those from before it started."""
        if self.is_known and not self.logged:
            return
        with self.lock:
            is_back, errors = bool(self.logged), list(self.logged)
            self.logged.clear()
            self.written.clear()
            is_first, self.is_known = not self.is_known, True
        if is_back:
            logger.info("the task queue works again")
        over = Q(error__in=errors)
        if is_first:
            over |= Q(failed_at__lt=self.started_at)
        try:
            rows = QueueFailure.objects.filter(over)
            if rows.exists():  # usually there are none, which saves a write
                rows.delete()
        except (DatabaseError, InterfaceError):
            logger.warning("cannot clear the recorded failure of the queue", exc_info=True)
            with self.lock:  # retry with the next message
                self.logged.update(errors)
                self.is_known = self.is_known and not is_first

    def _write(self, cause: Cause) -> None:
        now = timezone.now()
        try:
            with transaction.atomic():
                QueueFailure.objects.filter(failed_at__lt=now - FAILURE_LIFETIME).delete()
                QueueFailure.objects.update_or_create(
                    error=cause.error,
                    defaults={"text": cause.text, "failed_at": now},
                    create_defaults={"text": cause.text, "failed_at": now, "since": now},
                )
        except (DatabaseError, InterfaceError):
            logger.warning("cannot record a failure of the queue", exc_info=True)


queue_watch: Final = QueueWatch()


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """A failure without a later success."""

    is_acute: bool
    found: str
    advice: str


def known_failures() -> Iterator[KnownFailure]:
    now = timezone.now()
    for row in QueueFailure.objects.filter(failed_at__gt=now - FAILURE_LIFETIME).order_by(
        "-failed_at"
    ):
        begin, end = (
            date_format(timezone.localtime(moment), "SHORT_DATETIME_FORMAT")
            for moment in (row.since, row.failed_at)
        )
        found = _("could not be queued since %(begin)s, last at %(end)s: %(cause)s")
        yield KnownFailure(
            is_acute=now - row.failed_at < ACUTE_FAILURE_AGE,
            found=found % {"begin": begin, "end": end, "cause": row.text},
            advice=Cause(row.error, row.text).advice,
        )


_MAX_CHECKED_CALLBACKS: Final = 200


@dataclass(slots=True)
class _Message:
    """A message to queue, usually after the commit."""

    send: Callable[[], object]
    what: str
    is_over: bool = False

    def __call__(self) -> None:
        self.is_over = True
        try:
            self.send()
        except Exception as error:  # any exception of the broker's library
            queue_watch.failed(self.what, error)
        else:
            queue_watch.worked()


def send_after_commit(send: Callable[[], object], what: str, *, once: bool = False) -> None:
    """Queue a task after the commit. If the broker is unavailable, the sweep finds the row that `what` names.

    With `once`, several calls with the same `what` in a transaction queue it only once.
    """
    waiting = transaction.get_connection().run_on_commit if once else []
    # A long transaction may have thousands of callbacks.
    for _ids, call, _is_robust in waiting[-_MAX_CHECKED_CALLBACKS:]:
        message = getattr(call, "__self__", None)
        if isinstance(message, _Message) and message.what == what and not message.is_over:
            return
    # A bound method, because Django logs the `__qualname__` of a failing callback.
    transaction.on_commit(_Message(send, what).__call__, robust=True)


def send_message(send: Callable[[], object], what: str) -> None:
    """Queue a task immediately. Failures are recorded like those after a commit, and raise nothing."""
    _Message(send, what)()


def task_app() -> Celery:
    """Return the project's Celery application, imported at the first call."""
    return cast("Celery", import_string(settings.TASK_APP))


_DISCOVERY: Final = Lock()


def queue_task(name: str, *arguments: Json) -> None:
    """Queue the task with this name immediately.

    Tasks are referred to by name, because their modules import the services that queue them.
    """
    app = task_app()
    if name not in app.tasks:
        # Celery finds nothing while another thread is looking.
        with _DISCOVERY:
            # Not the import that workers do: that runs the system checks and loads all pages of the
            # admin.
            app.autodiscover_tasks(force=True)
    app.tasks[name].delay(*arguments)
