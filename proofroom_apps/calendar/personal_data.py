"""Personal data of calendar feeds."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from proofroom.core.privacy.kinds import Erasure, Table, TableKind

KINDS: Final = (
    TableKind(
        "calendar.feeds",
        gettext_lazy("The calendar feed of this person"),
        Table("proofroom_calendar.CalendarFeed", ("created_at",), owners=("user",)),
        erasure=Erasure.DELETED,
    ),
)
