"""Rows of an archive: pydantic classes, in camelCase, whose ids and times are texts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from proofroom.core.validation.input_validation import parse_uuid
from proofroom.core.validation.moments import parse_moment

_FIRST_YEAR: Final = 1900
_LAST_YEAR: Final = 2500


def _check_id(value: str) -> str:
    if str(parse_uuid(value)) != value:
        raise ValueError(_("This must be a UUID in lower case."))
    return value


def _check_moment(value: str) -> str:
    moment = parse_moment(value)
    if moment is None:
        raise ValueError(_("This must be a time in ISO 8601 with its zone."))
    # Any zone of a reader can show it.
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise ValueError(
            _("This must be a time between %(first)s and %(last)s.")
            % {"first": _FIRST_YEAR, "last": _LAST_YEAR}
        )
    return value


Id = Annotated[str, AfterValidator(_check_id)]
Moment = Annotated[str, AfterValidator(_check_moment)]


class ArchiveRow(BaseModel):
    """A row in an archive, in camelCase. Keys that it does not declare are refused."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, strict=True
    )


class IdentifiedRow(ArchiveRow):
    """A row with an id of its own."""

    id: Id


def format_moment(moment: datetime | None) -> str | None:
    """A time to the microsecond: what is read back is the same."""
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="microseconds")


def read_moment(text: str) -> datetime:
    """A time that a row has been checked to hold."""
    moment = parse_datetime(text)
    if moment is None:
        raise ValueError(text)
    return moment
