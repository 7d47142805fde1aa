"""The same time and the same ids each time that pictures are taken."""

from __future__ import annotations

import datetime as real
import os
from random import Random
from types import SimpleNamespace
from typing import Any, Final

import pytest

START: Final = real.datetime(2026, 10, 6, 8, 0, tzinfo=real.UTC)
_TICK: Final = real.timedelta(milliseconds=1)


class Clock:
    """The time that `django.utils.timezone.now` returns. Scenes move it.

    Until `stop`, each call returns a later time, so that rows keep the order in which they were made.
    """

    def __init__(self) -> None:
        self.time = START
        self._ticks = True

    def now(self, tz: real.tzinfo | None = None) -> real.datetime:
        if self._ticks:
            self.time += _TICK
        return self.time.astimezone(tz) if tz else self.time.replace(tzinfo=None)

    def forward(self, **units: float) -> None:
        self.time += real.timedelta(**units)

    def stop(self) -> None:
        self._ticks = False


def fixed_clock(patch: pytest.MonkeyPatch) -> Clock:
    """Replace the time in Django. Fields with the default `timezone.now` get it too."""
    clock = Clock()

    class Moments(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, real.datetime)

    class Moment(real.datetime, metaclass=Moments):
        @classmethod
        def now(cls, tz: real.tzinfo | None = None) -> Any:
            return clock.now(tz)

    patch.setattr("django.utils.timezone.datetime", Moment)
    names = {**vars(real), "datetime": Moment}
    patch.setattr("django.utils.timesince.datetime", SimpleNamespace(**names))
    return clock


def fixed_ids(patch: pytest.MonkeyPatch) -> None:
    """Make `uuid4` and `secrets` return the same in each run: some pages show a part of an id or a token."""
    random = Random(1)  # noqa: S311  # a picture
    patch.setattr("uuid.os", SimpleNamespace(**{**vars(os), "urandom": random.randbytes}))
    patch.setattr("secrets._sysrand", Random(2))  # noqa: S311  # a picture
