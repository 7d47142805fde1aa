"""`/api/calendar`: what happens in a period."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, ClassVar, Final
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.core.api.answer import Answer, one_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import choice_in, moment_in
from proofroom.core.api.schema import query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid
from proofroom.core.post_type_names import post_type_labels
from proofroom_apps.calendar.entries import KINDS, MAX_PERIOD, CalendarFilter, list_entries
from proofroom_apps.calendar.feeds import feed_url, renew_feed

_DEFAULT_PERIOD: Final = timedelta(days=31)
FROM: Final = query_parameter(
    "from", "A date or time; by default now.", {"type": "string", "format": "date-time"}
)
TO: Final = query_parameter(
    "to",
    f"A date or time; by default 31 days after `from`, at most {MAX_PERIOD.days}.",
    {"type": "string", "format": "date-time"},
)
PERSON: Final = query_parameter(
    "person",
    "User id: author, maker of a date, or the person asked.",
    {"type": "integer", "minimum": 1},
)


class CalendarEntryAnswer(Answer):
    """One moment: a publication (of a post or of scheduled changes), an expiry, a release or a due date."""

    kind: Annotated[str, one_of(KINDS)]
    at: datetime
    id: UUID = Field(
        description="Of the post, the scheduled changes, the release or the comment. Of the post for a due step."
    )
    post_id: UUID | None
    title: str


class CalendarAnswer(Answer):
    """What happens in a period, in order of time."""

    data: list[CalendarEntryAnswer]


class CalendarFeedAnswer(Answer):
    """The secret address of the caller's feed, for other calendars. Null before the first POST."""

    url: str | None


class CalendarFeedViewSet(ApiViewSet):
    """The address of the caller's iCalendar feed."""

    permissions: ClassVar[dict[str, Declared]] = {
        "retrieve": "posts.view",
        "renew": "posts.view",
    }

    @extend_schema(responses={200: CalendarFeedAnswer})
    def retrieve(self, request: Request) -> Response:
        """Return the address. It needs a logged-in person."""
        return Response(CalendarFeedAnswer(url=feed_url(self.actor)))

    @extend_schema(request=None, responses={200: CalendarFeedAnswer})
    def renew(self, request: Request) -> Response:
        """Make a new address. The former one stops working."""
        return Response(CalendarFeedAnswer(url=renew_feed(self.actor)))


class CalendarViewSet(ApiViewSet):
    """The calendar."""

    permissions: ClassVar[dict[str, Declared]] = {"retrieve": "posts.view"}

    @extend_schema(
        parameters=[
            FROM,
            TO,
            query_parameter("type", "Of posts with this type."),
            query_parameter("locale", "Of posts in this language."),
            PERSON,
        ],
        responses=CalendarAnswer,
    )
    def retrieve(self, request: Request) -> Response:
        """List publications, expiries, releases and due dates of a period, in order of time.

        Releases need `releases.manage`, due threads `comments.view`; without it they are left out.
        """
        begin = moment_in(request, "from") or timezone.now()
        end = moment_in(request, "to", is_end=True) or _later(begin)
        entries = list_entries(begin, end, self.actor, _filter_in(request))
        shown = [CalendarEntryAnswer.of(entry) for entry in entries]
        return Response(CalendarAnswer(data=shown))


def _later(begin: datetime) -> datetime:
    try:
        return begin + _DEFAULT_PERIOD
    except OverflowError:
        raise invalid("from", "from must be a date or a time, such as 2026-01-31.") from None


def _filter_in(request: Request) -> CalendarFilter:
    return CalendarFilter(
        type=choice_in(request, "type", post_type_labels()) or "",
        locale=choice_in(request, "locale", settings.CMS_ENV.locales) or "",
        person=_person_in(request),
    )


def _person_in(request: Request) -> int | None:
    text = request.query_params.get("person")
    if text is None:
        return None
    # Ids are 64-bit integers.
    if not (text.isascii() and text.isdecimal() and len(text) <= 18):
        raise invalid("person", "person must be a user id.")
    return int(text)
