"""Times are parsed by the same rule in all interfaces."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import RequestFactory
from pydantic import TypeAdapter, ValidationError
from rest_framework.request import Request

from analytics.periods import read_period
from content.rules.modules import clean_value
from proofroom.archive.rows import Moment as ArchivedMoment
from proofroom.core.api.body import Moment
from proofroom.core.api.query import moment_in
from proofroom.core.errors import RuleViolation
from proofroom.core.validation.moments import parse_moment

EIGHT = datetime(2030, 1, 31, 8, tzinfo=UTC)
NO_MOMENTS = [
    "",
    "x",
    "2030-13-01T00:00:00Z",
    "9999-12-31T23:59:59-12:00",
    "9001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "2" * 50,
]


def in_a_query(text: str) -> datetime | None:
    return moment_in(Request(RequestFactory().get("/", {"from": text})), "from")


def in_a_body(text: str) -> Any:
    return TypeAdapter(Moment).validate_python(text)


def in_an_archive(text: str) -> Any:
    return TypeAdapter(ArchivedMoment).validate_python(text)


def in_a_post(text: str) -> Any:
    return clean_value("publishAt", text)


def in_a_report(text: str) -> Any:
    return read_period({"from": text, "to": text}).first


PLACES: list[Callable[[str], Any]] = [in_a_query, in_a_report, in_a_body, in_an_archive, in_a_post]


@pytest.mark.parametrize(
    "text", ["2030-01-31T08:00:00Z", "2030-01-31T09:00:00+01:00", "2030-01-31T08:00:00.000Z"]
)
def test_a_time_is_stored_in_utc(text: str) -> None:
    assert (parse_moment(text), in_a_query(text), in_a_body(text)) == (EIGHT, EIGHT, EIGHT)
    assert in_a_post(text) == "2030-01-31T08:00:00.000Z"
    assert in_a_report(text) == EIGHT.date()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("text", NO_MOMENTS)
def test_what_is_no_moment_is_none_everywhere(place: Callable[[str], Any], text: str) -> None:
    assert parse_moment(text) is None
    with pytest.raises((RuleViolation, ValidationError)):
        place(text)


def test_without_a_zone_only_a_query_means_utc() -> None:
    text = "2030-01-31T08:00:00"

    assert (in_a_query(text), in_a_report(text)) == (EIGHT, EIGHT.date())
    for place in (in_a_body, in_an_archive, in_a_post):
        with pytest.raises((RuleViolation, ValidationError)):
            place(text)
