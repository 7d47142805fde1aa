"""One list of the spellings in which a secret is masked, used everywhere."""

from __future__ import annotations

import base64
import html
import json
import logging
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

import pytest

from agents_app.runs.leak_prevention import RunRedactor
from cms_project.logs import JsonFormatter, RedactingFormatter
from proofroom.core.redaction import SecretRedactor
from proofroom.webhooks.delivery_channels import OutgoingRequest
from proofroom.webhooks.redaction import RequestRedactor

SECRET: Final = 'ab/cdéf"gh12'
FORMS: Final = {
    "plain": SECRET,
    "in capitals": SECRET.upper(),
    "JSON in UTF-8": json.dumps(SECRET, ensure_ascii=False)[1:-1],
    "JSON in ASCII": json.dumps(SECRET)[1:-1],
    "JSON in ASCII as PHP writes it": json.dumps(SECRET)[1:-1].replace("/", "\\/"),
    "JSON in UTF-8 with the slash escaped": 'ab\\/cdéf\\"gh12',
    "Python": repr(SECRET)[1:-1],
    "HTML": html.escape(SECRET),
    "part of a path": quote(SECRET),
    "value of a query": quote(SECRET, safe=""),
    "value of a query, small": quote(SECRET, safe="").lower(),
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64 without its end": base64.b64encode(SECRET.encode()).decode().rstrip("="),
}


def in_a_line_of_the_log(text: str) -> str:
    record = logging.LogRecord("x", logging.INFO, "x.py", 1, text, None, None)
    return RedactingFormatter("%(message)s", secrets=[SECRET]).format(record)


def in_json_of_the_log(text: str) -> str:
    record = logging.LogRecord("x", logging.INFO, "x.py", 1, text, None, None)
    return str(json.loads(JsonFormatter(secrets=[SECRET]).format(record))["message"])


def in_a_delivery(text: str) -> str:
    request = OutgoingRequest(url="https://a.example/", headers={}, body=b"", secrets=(SECRET,))
    return RequestRedactor(request).text(text)


PLACES: Final[dict[str, Callable[[str], str]]] = {
    "diagnostics": lambda text: SecretRedactor().known(text),
    "deliveries": in_a_delivery,
    "runs": lambda text: RunRedactor().redact(text),
    "logs": in_a_line_of_the_log,
    "logs in JSON": in_json_of_the_log,
}


@pytest.mark.django_db
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("place", PLACES)
def test_every_place_hides_every_form_of_a_secret(settings: Any, place: str, form: str) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"agent_secret": SECRET})

    hidden = PLACES[place](f"it said <{FORMS[form]}> and ended")

    mark = "[hidden]" if place.startswith(("logs", "diagnostics")) else "•••"
    assert hidden.replace("=", "") == f"it said <{mark}> and ended"


@pytest.mark.django_db
@pytest.mark.parametrize("place", PLACES)
def test_every_place_shows_other_words(settings: Any, place: str) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"agent_secret": SECRET})

    assert PLACES[place]("ab/cdef and gh12 are words") == "ab/cdef and gh12 are words"
