"""The file of an export: a ZIP archive with `summary.html` for the person and `data.json` for programs."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from tempfile import TemporaryFile
from typing import IO, Final
from zipfile import ZIP_DEFLATED, ZipFile

import orjson
from django.conf import settings
from django.utils import timezone
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import NotFound
from proofroom.core.json import Json, JsonObject
from proofroom.core.privacy.declarations import find_kind
from proofroom_apps.privacy.models import PersonalDataRequest
from proofroom_apps.privacy.presenters import NOT_SEARCHED
from proofroom_apps.privacy.services.requests import require_manager

FILENAME: Final = "personal-data.zip"
_MAX_DEPTH: Final = 20
_STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}"
    "article{border-top:1px solid #ccc;padding:.5rem 0}dt{font-weight:600}dd{margin:0 0 .5rem;"
    "white-space:pre-wrap;overflow-wrap:anywhere}"
)


def open_export(job: PersonalDataRequest, actor: Actor) -> IO[bytes]:
    """Return the archive of a finished export, at its beginning. Raises `NotAllowed`, or `NotFound` if it expired."""
    require_manager(actor)
    if job.account_id is not None:
        actor.require("users.manage")
    if not job.has_file:
        raise _expired()
    target: IO[bytes] = TemporaryFile()  # noqa: SIM115  # the response closes it
    with (
        ZipFile(target, "w", ZIP_DEFLATED) as archive,
        override(job.language or settings.LANGUAGE_CODE),
    ):
        with archive.open("summary.html", "w", force_zip64=True) as file:
            for text in _summary(job):
                file.write(text.encode("utf-8", "replace"))
        with archive.open("data.json", "w", force_zip64=True) as file:
            for part in _data(job):
                file.write(part)
    # An erasure may have deleted the rest of the file meanwhile.
    now = PersonalDataRequest.objects.filter(pk=job.pk).first()
    if now is None or not now.has_file:
        target.close()
        raise _expired()
    payload: JsonObject = {"id": str(job.pk), "account": job.account_id}
    outbox.record("personal-data.downloaded", actor=actor, payload=payload)
    target.seek(0)
    return target


def _expired() -> NotFound:
    return NotFound(_("This export has expired. Export the data again."))


def _records(job: PersonalDataRequest, kind: str) -> Iterator[JsonObject]:
    """Yield the stored records of a kind. One query per part, so that one part is in memory."""
    parts = job.chunks.filter(kind=kind).order_by("number")
    for pk in list(parts.values_list("pk", flat=True)):
        chunk = parts.filter(pk=pk).first()
        if chunk is None:
            raise _expired()
        for line in bytes(chunk.content).splitlines():
            yield orjson.loads(line)


def _found_kinds(job: PersonalDataRequest) -> list[tuple[str, str, int]]:
    """Return name, label and number of the kinds with records."""
    found = []
    for name, result in job.results.items():
        kind = find_kind(name)
        if kind is not None and result["found"]:
            found.append((name, str(kind.label), result["found"]))
    return found


def _data(job: PersonalDataRequest) -> Iterator[bytes]:
    head = {
        "email": job.email,
        "account": job.account_id,
        "exportedAt": job.ended_at.isoformat() if job.ended_at else None,
        "copies": job.copies,
    }
    yield orjson.dumps(head)[:-1] + b',"data":['
    for number, (name, label, _count) in enumerate(_found_kinds(job)):
        yield b"," if number else b""
        yield orjson.dumps({"kind": name, "label": label})[:-1] + b',"records":['
        for place, record in enumerate(_records(job, name)):
            yield b"," if place else b""
            yield orjson.dumps(record)
        yield b"]}"
    yield b"]}\n"


def _summary(job: PersonalDataRequest) -> Iterator[str]:
    title = _("Your data on %(site)s") % {"site": settings.SITE_URL}
    yield (
        f'<!doctype html><html lang="{escape(get_language() or "en")}"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>"
    )
    when = timezone.localtime(job.ended_at).strftime("%Y-%m-%d %H:%M %Z") if job.ended_at else ""
    said = _("Data about %(email)s, as of %(when)s.")
    yield f"<p>{escape(said % {'email': job.email, 'when': when})}</p>"
    kinds = _found_kinds(job)
    if not kinds:
        yield f"<p>{escape(_('Nothing found.'))}</p>"
    for name, label, count in kinds:
        yield f"<h2>{escape(label)} ({count})</h2>"
        for record in _records(job, name):
            yield f"<article>{_as_html(record)}</article>"
    if job.copies:
        yield f"<h2>{escape(_('Copies outside of this site'))}</h2><ul>"
        for sentence in job.copies:
            yield f"<li>{escape(str(sentence))}</li>"
        yield "</ul>"
    yield f"<p>{escape(str(NOT_SEARCHED))}</p></body></html>\n"


def _as_html(value: Json, depth: int = 0) -> str:
    if depth > _MAX_DEPTH:
        return escape(str(value))
    if isinstance(value, dict):
        rows = (
            f"<dt>{escape(str(name))}</dt><dd>{_as_html(item, depth + 1)}</dd>"
            for name, item in value.items()
            if item not in (None, "", [], {})
        )
        return f"<dl>{''.join(rows)}</dl>"
    if isinstance(value, list):
        return f"<ul>{''.join(f'<li>{_as_html(item, depth + 1)}</li>' for item in value)}</ul>"
    if isinstance(value, bool):
        return escape(_("yes") if value else _("no"))
    return escape(str(value))
