"""Rendered parts of pages, given again where everything that they were made of is equal.

A part is rendered with a context that notes the names which its template looks at. It is kept under their contents,
so that it depends on nothing that is not in its key, whatever a site's own template reads. A part is not kept where a
name holds what cannot be compared by content (an object of a model, say), where it read the whole context, or where
it asked the database. What else it may read, as `{% now %}` does, can be as old as `MAX_AGE_SECONDS`.

What is made of contents that are all known before, as a whole page is of what was read for it, is kept by these
(`made_of`).
"""

from __future__ import annotations

import marshal
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from decimal import Decimal
from enum import Enum
from functools import cached_property
from hashlib import blake2b
from threading import Lock
from typing import Any, Final, Generic, Protocol, TypeVar, cast
from uuid import UUID, uuid4

from django.conf import settings
from django.core.signals import setting_changed
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from proofroom.core.caching.content_tags import INCOMPLETE, collect_tags, depend_on
from proofroom.core.database.replica import reading_connection

T = TypeVar("T")
MAX_AGE_SECONDS: Final = 3600.0
_MOST_PARTS: Final = 1000
_EACH: Final = 400
ABSENT: Final = object()
_NO_REFERENCES: Final = 2
"""The last version of `marshal` that writes the same for equal values, whoever else holds them. It takes values of
plain types only, and writes different ones for different types."""
_PLAIN: Final = frozenset({str, bytes, int, float, bool, type(None)})


class Frozen(Protocol):
    """The contents that a part is looked up by."""

    @property
    def language(self) -> str | None:
        """The language that parts are rendered in."""

    def value_of(self, name: str) -> object:
        """What a name stands for; `ABSENT` for one that is not known."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """The text of a part. `tags` name what it depends on, `heading_ids` are those that it added to the page."""

    text: str
    tags: frozenset[str] = frozenset()
    heading_ids: frozenset[str] = frozenset()
    made_at: float = field(default_factory=time.monotonic)


class WatchedContext(dict[str, object]):
    """The names of a template, which notes those that are looked at, be they there or not."""

    def __init__(self, values: Mapping[str, object]) -> None:
        super().__init__(values)
        self.seen: set[str] = set()
        self.is_read_whole = False

    def __getitem__(self, name: str) -> object:
        self.seen.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.seen.add(str(name))
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.seen.add(name)
        return super().get(name, default)

    def __iter__(self) -> Iterator[str]:
        self.is_read_whole = True
        return super().__iter__()

    def keys(self) -> Any:
        self.is_read_whole = True
        return super().keys()

    def values(self) -> Any:
        self.is_read_whole = True
        return super().values()

    def items(self) -> Any:
        self.is_read_whole = True
        return super().items()

    def copy(self) -> dict[str, object]:
        self.is_read_whole = True
        return super().copy()


class FragmentStore:
    """The most recently used parts, bounded in bytes.

    Of each part it knows which names were ever looked at; their contents are the key.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._size = 0
        self._kept: OrderedDict[Hashable, Fragment] = OrderedDict()
        self._names: dict[Hashable, tuple[str, ...]] = {}
        self._lock = Lock()

    def find(self, part: Hashable, frozen: Frozen) -> Fragment | None:
        """Return what was kept of a part with the same contents, and say what it depends on."""
        names = self._names.get(part)
        key = _key(part, names, frozen) if names is not None else None
        if key is None:
            return None
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            if time.monotonic() - found.made_at > MAX_AGE_SECONDS:
                self._drop(key)
                return None
            self._kept.move_to_end(key)
        depend_on(*found.tags)
        return found

    def keep(
        self, part: Hashable, seen: Collection[str], frozen: Frozen, fragment: Fragment
    ) -> None:
        """Keep a part under the contents of the names that it looked at, unless one has none to compare."""
        if digest_of([frozen.value_of(name) for name in seen]) is None:
            return
        with self._lock:
            if len(self._names) >= _MOST_PARTS and part not in self._names:
                self._forget()
            names = tuple(sorted({*self._names.get(part, ()), *seen}))
            self._names[part] = names
        key = _key(part, names, frozen)
        if key is None:
            return
        with self._lock:
            self._drop(key)
            self._kept[key] = fragment
            self._size += _size(fragment)
            while self._size > self.most_bytes and self._kept:
                self._drop(next(iter(self._kept)))

    def clear(self) -> None:
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        self._kept.clear()
        self._names.clear()
        self._size = 0

    def _drop(self, key: Hashable) -> None:
        fragment = self._kept.pop(key, None)
        if fragment is not None:
            self._size -= _size(fragment)


class FrozenNames:
    """The names of a page."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self.values = values
        self.language = get_language()

    def value_of(self, name: str) -> object:
        return self.values.get(name, ABSENT)


class FrozenPart:
    """The names that a part has of its own, before those of its page."""

    def __init__(self, own: Mapping[str, object], page: FrozenNames) -> None:
        self.own, self.page = own, page
        self.language = page.language

    def value_of(self, name: str) -> object:
        own = self.own.get(name, ABSENT)
        return self.page.value_of(name) if own is ABSENT else own


@dataclass(slots=True)
class Rendering:
    """What is learnt while a part is rendered."""

    tags: set[str]
    has_queried: bool = False
    has_failed: bool = False


_watched: ContextVar[Rendering | None] = ContextVar("watched", default=None)


@contextmanager
def watch_rendering() -> Iterator[Rendering]:
    """Learn what a part depends on, whether it asks the database, which then has more to say than its key, and
    whether something in it failed."""

    def note(execute: Callable[..., Any], *call: Any) -> Any:
        rendering.has_queried = True
        return execute(*call)

    with collect_tags() as tags, reading_connection().execute_wrapper(note):
        rendering = Rendering(tags)
        token = _watched.set(rendering)
        try:
            yield rendering
        finally:
            _watched.reset(token)
    depend_on(*tags)
    if rendering.has_failed:
        note_failure()


def note_failure() -> None:
    """Say that something is left out of what is being made, which may be there the next time."""
    depend_on(INCOMPLETE)
    rendering = _watched.get()
    if rendering is not None:
        rendering.has_failed = True


def freeze(value: object) -> bytes | None:
    """Return the content of a value as bytes, equal for equal values of equal types only; None where there is no
    telling."""
    try:
        return b"p" + _dump(value)
    except ValueError:  # it holds something that is no plain value
        pass
    try:
        return b"t" + _dump(_plain(value))
    except (TypeError, ValueError, RecursionError):
        return None


def digest_of(value: object) -> bytes | None:
    """A digest of the content of a value; None where there is no telling."""
    content = freeze(value)
    return None if content is None else blake2b(content, digest_size=24).digest()


def content_key(value: object) -> str:
    """A name for the content of a value, the same for equal content only; a new one where there is no telling."""
    return (digest_of(value) or uuid4().bytes).hex()


def _dump(value: Any) -> bytes:
    return marshal.dumps(value, _NO_REFERENCES)


def _plain(value: object) -> object:
    """A value as plain ones that name its type and all that it holds. Raises `TypeError` for what says neither."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if value is ABSENT:
        return ("absent",)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, Promise):
        return ("lazy", str(value))
    if isinstance(value, Enum):
        return (name, value.name, _plain(value.value))
    if isinstance(value, SafeString):
        return (name, str.__str__(value))
    if isinstance(value, datetime | date | time_of_day | timedelta | UUID | Decimal):
        return (name, repr(value))
    if kind in (list, tuple):
        return (name, [_plain(one) for one in cast("Sequence[object]", value)])
    if kind in (set, frozenset):
        held = [_plain(one) for one in cast("Collection[object]", value)]
        return (name, sorted(map(_dump, held)))
    own = [(each, _plain(one)) for each, one in sorted(_attributes(value).items())]
    if isinstance(value, Mapping):
        pairs = dict.items(value) if isinstance(value, dict) else value.items()
        return (name, own, [(_plain(key), _plain(one)) for key, one in pairs])
    if is_dataclass(value) and not isinstance(value, type):
        return (name, own)
    raise TypeError(f"no content to compare: {kind!r}")


def _attributes(value: object) -> dict[str, object]:
    """What an object holds, private or not, but for what it only works out once."""
    held = dict(getattr(value, "__dict__", {}))
    if is_dataclass(value):
        held |= {each.name: getattr(value, each.name) for each in fields(value)}
    kind = type(value)
    return {
        name: one
        for name, one in held.items()
        if not isinstance(getattr(kind, name, None), cached_property)
    }


def _key(part: Hashable, names: tuple[str, ...], frozen: Frozen) -> Hashable | None:
    content = digest_of([frozen.value_of(name) for name in names])
    # With the names, of which more may become known.
    return None if content is None else (part, names, frozen.language, content)


def _size(fragment: Fragment) -> int:
    # A character takes up to four bytes in memory; most texts here are Latin.
    return 2 * len(fragment.text) + _EACH


fragments: Final = FragmentStore(settings.KEPT_FRAGMENTS_BYTES)


@dataclass(frozen=True, slots=True)
class _Made(Fragment, Generic[T]):
    """What was made, beside its text, by which its size is known."""

    made: T | None = None


def made_of(
    part: Hashable,
    contents: Mapping[str, object],
    make: Callable[[], T],
    text_of: Callable[[T], str] = lambda made: "",
) -> T:
    """What `make` makes of these contents, or made of equal ones before; it must depend on nothing but these and the
    language that is active.

    What fails in part, or asks the database, is made anew each time.
    """
    frozen = FrozenNames(contents)
    kept = fragments.find(part, frozen)
    if isinstance(kept, _Made):
        return cast(T, kept.made)
    with watch_rendering() as rendering:
        made = make()
    if not rendering.has_queried and not rendering.has_failed:
        fragment = _Made(text_of(made), frozenset(rendering.tags), made=made)
        fragments.keep(part, contents.keys(), frozen, fragment)
    return made


def _forget_with_settings(**kwargs: object) -> None:
    fragments.clear()


setting_changed.connect(_forget_with_settings)
