"""Cookies and other values that the site stores in browsers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

    Words = str | StrPromise


class StorageKind(StrEnum):
    COOKIE = "cookie"
    LOCAL = "localStorage"
    SESSION = "sessionStorage"


class Audience(StrEnum):
    """The people in whose browsers the value is stored."""

    VISITORS = "visitors"
    STAFF = "staff"


def always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class StoredItem:
    """A value in the browser. `seconds` is how long it stays: 0 until the browser is closed, None until deleted.

    `name` is a function if a setting decides it. `is_used` says whether the settings of this site use it at all.
    """

    name: str | Callable[[], str]
    kind: StorageKind
    audience: Audience
    purpose: Words
    when: Words
    seconds: Callable[[], int] | int | None = None
    is_used: Callable[[], bool] = always

    @property
    def title(self) -> str:
        return self.name if isinstance(self.name, str) else self.name()

    @property
    def lifetime(self) -> int | None:
        return self.seconds() if callable(self.seconds) else self.seconds
