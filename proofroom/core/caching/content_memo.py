"""Memoizes results by the content they were made from: equal content returns the earlier result.

The key is the content itself, with the type of each value, so a change needs no invalidation. A result may depend
only on its content, the active language and settings. Anything else it reads, such as the time of `{% now %}`, can be
outdated by up to `MAX_AGE_SECONDS`.
"""

from __future__ import annotations

import marshal
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from decimal import Decimal
from enum import Enum
from functools import cached_property
from hashlib import blake2b
from threading import Lock
from typing import Any, Final, TypeVar, cast
from uuid import UUID, uuid4

from django.conf import settings
from django.core.signals import setting_changed
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from proofroom.core.caching.content_tags import INCOMPLETE, collect_tags, depend_on
from proofroom.core.database.replica import reading_connection
from proofroom.core.database.trial_writes import in_trial

T = TypeVar("T")
Key = tuple[Hashable, str | None, bytes]
MAX_AGE_SECONDS: Final = 3600.0
_OVERHEAD_BYTES: Final = 400
"""Bytes of an entry without its text."""
_MARSHAL_VERSION: Final = 2
"""Version 2 of `marshal`: the last one whose output depends only on the values, not on their reference counts.

It accepts only plain types and writes different types differently.
"""
_PLAIN: Final = frozenset({str, bytes, int, float, bool, type(None)})
_COMPARED_BY_REPR: Final = (datetime, date, time_of_day, timedelta, UUID, Decimal)


@dataclass(frozen=True, slots=True)
class MemoEntry:
    """A result, the tags of its dependencies, its size and its creation time (`time.monotonic`)."""

    made: object
    tags: frozenset[str]
    size: int
    made_at: float


class ContentMemo:
    """The most recently used entries, bounded in bytes."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._size = 0
        self._entries: OrderedDict[Key, MemoEntry] = OrderedDict()
        self._lock = Lock()

    def find(self, key: Key) -> MemoEntry | None:
        with self._lock:
            found = self._entries.get(key)
            if found is None:
                return None
            if time.monotonic() - found.made_at > MAX_AGE_SECONDS:
                self._drop(key)
                return None
            self._entries.move_to_end(key)
            return found

    def keep(self, key: Key, entry: MemoEntry) -> None:
        with self._lock:
            self._drop(key)
            self._entries[key] = entry
            self._size += entry.size
            while self._size > self.most_bytes and self._entries:
                self._drop(next(iter(self._entries)))

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._size = 0

    def _drop(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._size -= entry.size


content_memo: Final = ContentMemo(settings.CONTENT_MEMO_BYTES)


def memoize_by_content(
    part: Hashable,
    contents: Mapping[str, object],
    make: Callable[[], T],
    text_of: Callable[[T], str] = lambda made: "",
) -> T:
    """Return the result of `make`, or the earlier result for equal contents.

    `part` separates results of different functions. `text_of` returns the text whose length counts as the size of the
    result. A result that is incomplete (`note_failure`), that queried the database or that shows trial writes is not
    cached.
    """
    content = None if in_trial() else digest_of(dict(contents))
    if content is None:
        return make()
    # A result may contain translated texts.
    key = (part, get_language(), content)
    found = content_memo.find(key)
    if found is not None:
        depend_on(*found.tags)
        return cast(T, found.made)
    with collect_tags() as tags, _record_queries() as queries:
        made = make()
    depend_on(*tags)
    if not queries and INCOMPLETE not in tags:
        # A character takes up to four bytes in memory, but most texts are Latin.
        size = 2 * len(text_of(made)) + _OVERHEAD_BYTES
        content_memo.keep(key, MemoEntry(made, frozenset(tags), size, time.monotonic()))
    return made


def note_failure() -> None:
    """Mark the current result as incomplete: a part failed and may succeed the next time."""
    depend_on(INCOMPLETE)


@contextmanager
def _record_queries() -> Iterator[list[str]]:
    """Collect the SQL of the block. A result that runs queries depends on more than its content."""
    statements: list[str] = []

    def note(execute: Callable[..., Any], sql: str, *call: Any) -> Any:
        statements.append(sql)
        return execute(sql, *call)

    with reading_connection().execute_wrapper(note):
        yield statements


def fingerprint(value: object) -> bytes | None:
    """Return bytes that are equal only for equal values of equal types.

    None if the value contains an object of unknown content, such as a model.
    """
    try:
        # The prefixes keep plain values apart from descriptions that look the same.
        return b"p" + _dump(value)
    except ValueError:  # it contains a value of another type
        pass
    try:
        return b"t" + _dump(_plain(value))
    except (TypeError, ValueError, RecursionError):
        return None


def digest_of(value: object) -> bytes | None:
    """Return a digest of the fingerprint; None if there is none."""
    content = fingerprint(value)
    return None if content is None else blake2b(content, digest_size=24).digest()


def content_key(value: object) -> str:
    """Return a key that is equal only for equal content. A value without a fingerprint gets a new key each time."""
    return (digest_of(value) or uuid4().bytes).hex()


def _dump(value: Any) -> bytes:
    return marshal.dumps(value, _MARSHAL_VERSION)


def _plain(value: object) -> object:
    """Return a value as plain values with the names of their types. Raises `TypeError` for unknown types."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    name = f"{kind.__module__}.{kind.__qualname__}"
    if kind in _COMPARED_BY_REPR:
        return (name, repr(value))
    if kind is dict:  # which has no attributes
        pairs = cast("dict[object, object]", value).items()
        return (name, [], [(_plain(key), _plain(one)) for key, one in pairs])
    if isinstance(value, Promise):
        return ("lazy", str(value))
    if isinstance(value, Enum):
        return (name, value.name, _plain(value.value))
    if isinstance(value, SafeString):
        # A plain str: `marshal` refuses subclasses, and `SafeString.__str__` returns itself.
        return (name, str.__str__(value))
    if isinstance(value, _COMPARED_BY_REPR):
        return (name, repr(value))
    if kind in (list, tuple):
        return (name, [_plain(one) for one in cast("Sequence[object]", value)])
    if kind in (set, frozenset):
        items = [_plain(one) for one in cast("Collection[object]", value)]
        # Sets have no order, and their items may not be comparable.
        return (name, sorted(map(_dump, items)))
    own = [(each, _plain(one)) for each, one in sorted(_attributes(value).items())]
    if isinstance(value, Mapping):
        # A subclass may override `items`: a MultiValueDict's has only the last value of each key.
        entries = dict.items(value) if isinstance(value, dict) else value.items()
        return (name, own, [(_plain(key), _plain(one)) for key, one in entries])
    if is_dataclass(value) and not isinstance(value, type):
        return (name, own)
    raise TypeError(f"no content to compare: {kind!r}")


def _attributes(value: object) -> dict[str, object]:
    """Return the attributes of an object, including private ones, without cached properties."""
    items = dict(getattr(value, "__dict__", {}))
    if is_dataclass(value):
        items |= {each.name: getattr(value, each.name) for each in fields(value)}
    kind = type(value)
    return {
        name: one
        for name, one in items.items()
        # An instance has the same content before and after a cached property was computed.
        if not isinstance(getattr(kind, name, None), cached_property)
    }


def _forget_with_settings(**kwargs: object) -> None:
    content_memo.clear()


# Sent when tests override settings.
setting_changed.connect(_forget_with_settings)
