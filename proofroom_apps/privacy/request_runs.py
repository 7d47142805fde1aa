"""Executes requests: one kind of data at a time, each in its own transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import ClassVar, Final, cast

import orjson
from django.utils import timezone
from django.utils.translation import gettext_lazy

from proofroom.accounts.services.erasure import require_erasable
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor, Via
from proofroom.core.background_jobs.models import JobState
from proofroom.core.background_jobs.runner import PartRunner
from proofroom.core.errors import Conflict
from proofroom.core.json import Json, JsonObject
from proofroom.core.privacy.declarations import find_copies, find_kind
from proofroom.core.privacy.kinds import Erasure, PersonalDataKind
from proofroom.core.privacy.person import Person
from proofroom_apps.privacy.models import (
    CHUNK_BYTES,
    KEPT_DAYS,
    ExportChunk,
    PersonalDataRequest,
    RequestAction,
    requests_about,
)

KEEP_FILE: Final = timedelta(days=1)
COPIES: Final = "copies"
"""The first part of each request: it finds copies outside, as long as the site still knows what it sent."""
_MAX_DEPTH: Final = 200
_EVENTS: Final = {
    RequestAction.SEARCH: "personal-data.searched",
    RequestAction.EXPORT: "personal-data.exported",
    RequestAction.ERASE: "personal-data.erased",
}


class RequestRunner(PartRunner[PersonalDataRequest, str]):
    """Searches, exports or erases one kind at a time. A kind that fails ends the request; it can be repeated."""

    model = PersonalDataRequest
    task: ClassVar[str] = "privacy.tasks.run_request"
    noun: ClassVar[str] = "request about personal data"
    defect_text = gettext_lazy("Something went wrong. Check the log, then start it again.")
    late_after: ClassVar[timedelta] = timedelta(minutes=5)
    keep_ended: ClassVar[timedelta] = timedelta(days=KEPT_DAYS)

    def actor_of(self, job: PersonalDataRequest) -> Actor:
        actor = replace(super().actor_of(job), via=cast("Via", job.via))
        actor.require("privacy.manage")
        return actor

    def next_part(self, job: PersonalDataRequest) -> Sequence[str]:
        part: list[str] = job.pending[:1]
        return part

    def do_part(self, job: PersonalDataRequest, part: Sequence[str], actor: Actor) -> None:
        [name] = part
        job.pending = job.pending[1:]
        if name == COPIES:
            job.copies = [*find_copies(job.person)]
            return
        kind = find_kind(name)
        if kind is None:  # its app was removed since
            return
        is_export = job.action == RequestAction.EXPORT
        found = _store_records(job, kind) if is_export else kind.count(job.person)
        result = {"found": found}
        if job.action == RequestAction.ERASE:
            require_erasable(person=job.person, actor=actor)
            is_kept = kind.erasure == Erasure.KEPT
            result["erased"] = 0 if is_kept else kind.erase(job.person, actor)
        job.results = {**job.results, name: result}

    def on_end(self, job: PersonalDataRequest, actor: Actor | None) -> None:
        if job.action == RequestAction.EXPORT and job.state == JobState.DONE:
            job.expires_at = timezone.now() + KEEP_FILE
        else:
            job.chunks.all().delete()
        numbers: JsonObject = {
            name: result["erased" if job.action == RequestAction.ERASE else "found"]
            for name, result in job.results.items()
        }
        if job.action == RequestAction.ERASE and job.state == JobState.DONE:
            # Neither this request nor one that was started meanwhile may keep what was erased.
            self.cancel_others(job, actor or self._starter_of(job), with_erasures=False)
            forget_requests(job.person)
            job.email = job.username = ""
        job.save()
        by = actor or self._starter_of(job)
        payload: JsonObject = {
            "id": str(job.pk),
            "state": job.state,
            "numbers": {name: number for name, number in numbers.items() if number},
            "account": job.account_id,
        }
        if job.state != JobState.DONE:
            payload["did"] = "stopped"
        outbox.record(_EVENTS[RequestAction(job.action)], actor=by, payload=payload)

    def cancel_others(
        self, job: PersonalDataRequest, actor: Actor, *, with_erasures: bool = True
    ) -> None:
        """Cancel the other running requests about the person of an erasure.

        An erasure that ends leaves other erasures alone: they could wait for each other.
        """
        others = requests_about(job.person).filter(state=JobState.RUNNING).exclude(pk=job.pk)
        if not with_erasures:
            others = others.exclude(action=RequestAction.ERASE)
        for pk in others.order_by("pk").values_list("pk", flat=True):
            with suppress(Conflict):  # it has ended meanwhile
                self.cancel(pk, actor)

    def _starter_of(self, job: PersonalDataRequest) -> Actor:
        return Actor(user=job.by or SYSTEM, via=cast("Via", job.via))


REQUESTS: Final = RequestRunner()


def forget_requests(person: Person) -> int:
    """Remove the person from ended requests, and delete their files. Return the number of requests."""
    rows = requests_about(person).exclude(state=JobState.RUNNING)
    ExportChunk.objects.filter(request__in=rows).delete()
    return rows.update(email="", username="", expires_at=None)


def _store_records(job: PersonalDataRequest, kind: PersonalDataKind) -> int:
    """Store the records of a kind as lines of JSON. Return their number."""
    count = 0

    def lines() -> Iterator[bytes]:
        nonlocal count
        for record in kind.records(job.person):
            count += 1
            yield _line(record)

    ExportChunk.objects.filter(request=job, kind=kind.name).delete()
    for number, content in enumerate(_chunks(lines())):
        ExportChunk.objects.create(request=job, kind=kind.name, number=number, content=content)
    return count


def _line(record: JsonObject) -> bytes:
    """Return a record as a line of JSON. What the file cannot hold is replaced."""
    try:
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        return orjson.dumps(_representable(record, 0), option=orjson.OPT_APPEND_NEWLINE)


def _representable(value: Json, depth: int) -> Json:
    """Replace lone surrogates, integers of more than 64 bits, and what is nested too deep."""
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        try:
            return str(value)
        except ValueError:  # more digits than Python converts
            return "…"
    if isinstance(value, Mapping):
        return {
            str(_representable(name, depth)): _representable(item, depth + 1)
            for name, item in value.items()
        }
    if isinstance(value, Sequence):
        return [_representable(item, depth + 1) for item in value]
    return value


def _chunks(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Join lines to parts of about a megabyte. A part ends with a whole line."""
    block = bytearray()
    for line in lines:
        block += line
        if len(block) >= CHUNK_BYTES:
            yield bytes(block)
            block.clear()
    if block:
        yield bytes(block)
