"""Answers reads of visitors before Django, for a WSGI application.

Django's middleware has nothing to say of them but headers, and what these are its first answers show.
"""

from __future__ import annotations

import logging
from typing import Final

from django.conf import settings
from django.db import close_old_connections
from django.http import Http404
from django.utils import translation

from proofroom.core.caching.front_cache import (
    FrontAnswer,
    FrontRequest,
    Reply,
    count_call,
    earlier_calls,
    keep_answer,
    learnt_lines,
)
from proofroom.core.caching.front_readers import FrontReader, ReadAnswer, front_readers
from proofroom.core.caching.hit_batches import hit_batches
from proofroom.core.database.faults import DATABASE_AWAY
from proofroom.core.database.replica import from_replica
from proofroom.core.errors import CmsError
from proofroom.core.observability.middleware import REQUEST_ID_HEADER
from proofroom.core.observability.operations import OperationKind, measure
from proofroom.core.observability.work_ids import bind_ids

logger: Final = logging.getLogger(__name__)


def answer_read(asked: FrontRequest, request_id: str) -> Reply | None:
    """The answer to a visitor; None where Django must give it."""
    if not asked.is_for_all:
        return None
    reader = next((one for one in front_readers if one.takes(asked.path)), None)
    if reader is None or not learnt_lines.know(asked.scheme, reader.route):
        return None
    earlier = earlier_calls(reader.scope, asked.meta)
    is_refused = earlier is not None and 0 < earlier.limit <= earlier.hits
    reply = _read(reader, asked, request_id) if not is_refused else None
    if reply is None and earlier is not None:
        # Django counts what it answers or refuses, and has to know of all others.
        hit_batches.hand_over(earlier.key, 0)
    return reply


def _read(reader: FrontReader, asked: FrontRequest, request_id: str) -> Reply | None:
    with (
        bind_ids({"request_id": request_id}),
        measure(OperationKind.REQUEST, reader.route) as measured,
    ):
        measured.method = str(asked.meta["REQUEST_METHOD"])
        measured.is_passed_on = True
        found = _ask(reader, asked)
        if found is None:
            return None
        lines = learnt_lines.find(asked.scheme, found.kind, found.answer)
        if lines is None:
            return None
        more = {REQUEST_ID_HEADER: request_id}
        count = count_call(reader.scope, asked.meta)
        if count is not None:
            if count.is_over:
                hit_batches.hand_over(count.key)
                return None
            more |= count.headers if found.shows_limit else {}
        front = FrontAnswer.of(found.answer, lines, reader.scope, is_for_all=found.is_for_all)
        reply = keep_answer(asked, found.state, front, more, is_kept=found.is_for_all)
        measured.is_passed_on = False
        measured.outcome = str(reply.status)
        return reply


def _ask(reader: FrontReader, asked: FrontRequest) -> ReadAnswer | None:
    # A thread may still have the language of the reader whom it answered before.
    translation.activate(settings.LANGUAGE_CODE)
    try:
        with from_replica():
            return reader.read(asked)
    # What is refused, and a database that is away: Django meets it again, and has the answer for it.
    except (CmsError, Http404, *DATABASE_AWAY) as error:
        logger.info("a read of %s goes on to Django: %s", asked.path, error)
        return None
    except Exception:
        # A reader that always fails would only be slow: nobody would see it.
        logger.exception("a read of %s failed before Django, which answers it now", asked.path)
        return None
    finally:
        # As Django does after a request.
        close_old_connections()
