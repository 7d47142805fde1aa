"""Ages of times, as shown in lists."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from django.utils import timezone
from django.utils.formats import localize
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.timesince import TIME_STRINGS, timesince
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from proofroom.core.i18n.time_zones import exact_time


class _Unit(str):
    """The name of a unit of `timesince`, with cached plurals.

    Django's lookup takes longer than the rest of an age.
    """

    def __mod__(self, numbers: Any) -> str:
        return _format_unit(get_language(), str(self), numbers["num"])


_UNITS: Final[dict[str, str]] = {name: _Unit(name) for name in TIME_STRINGS}


@lru_cache(1024)
def _format_unit(language: str | None, unit: str, number: int) -> str:
    """Return a number with its unit in the active language, which must be `language`."""
    return str(TIME_STRINGS[unit] % {"num": number})


def age_of(moment: datetime) -> str:
    """Return the age of a time in words."""
    if timezone.now() - moment < timedelta(minutes=1):
        return _("just now")
    return _("%(age)s ago") % {"age": timesince(moment, time_strings=_UNITS, depth=1)}


def age_html(moment: datetime | None) -> SafeString | str:
    """Return an element with the age and the exact time as its tooltip; a dash for None.

    A time in the future is shown as a date.
    """
    if moment is None:
        return "—"
    is_past = moment <= timezone.now()
    words = age_of(moment) if is_past else localize(timezone.localtime(moment))
    exact, age = escape(exact_time(moment)), escape(words)
    return SafeString(f'<time datetime="{moment.isoformat()}" title="{exact}">{age}</time>')
