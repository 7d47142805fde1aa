"""Base classes of archive rows: pydantic models in camelCase, with ids and times as strings."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Final

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from proofroom.core.validation.input_validation import parse_uuid
from proofroom.core.validation.moments import parse_moment

# Years close to 1 and 9999 overflow when they are converted to another time zone.
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
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise ValueError(
            _("This must be a time between %(first)s and %(last)s.")
            % {"first": _FIRST_YEAR, "last": _LAST_YEAR}
        )
    return value


Id = Annotated[str, AfterValidator(_check_id)]
Moment = Annotated[str, AfterValidator(_check_moment)]


class ArchiveRow(BaseModel):
    """A row of an archive, in camelCase. Undeclared keys are refused."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, strict=True
    )


class IdentifiedRow(ArchiveRow):
    """A row with an id."""

    id: Id


def format_moment(moment: datetime | None) -> str | None:
    """Return the time in UTC, with microseconds, so that reading it back gives the same value."""
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="microseconds")


def read_moment(text: str) -> datetime:
    """Return the time in a validated row."""
    moment = parse_datetime(text)
    if moment is None:
        raise ValueError(text)
    return moment
