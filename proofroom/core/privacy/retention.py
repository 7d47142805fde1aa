"""How long each kind of data is kept: the only table of it. Tasks that delete data read their days with
`days_of` of `declarations`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    Words = str | StrPromise


@dataclass(frozen=True, slots=True)
class Retention:
    """How long data is kept. `setting` is the name of its variable; without one it is always `fixed_days`.

    `task_name` is the scheduled task that deletes the data, empty if it ends by itself.
    """

    name: str
    label: Words
    setting: str = ""
    fixed_days: int = 0
    task_name: str = ""
    note: Words = ""

    @property
    def days(self) -> int:
        """The number of days; 0 keeps the data for ever."""
        if not self.setting:
            return self.fixed_days
        days: int = getattr(settings.CMS_ENV, self.setting.lower())
        return days

    @property
    def duration(self) -> str:
        """The days in the reader's language."""
        days = self.days
        if not days:
            return _("Until it is deleted")
        return ngettext("%(days)s day", "%(days)s days", days) % {"days": days}
