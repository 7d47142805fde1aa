"""A person whose data is wanted: an email address, and the account that has it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeVar
from urllib.parse import quote

from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator
from django.db.models import Model, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext as _

from proofroom.core.errors import invalid
from proofroom.core.json import Json
from proofroom.core.validation.input_validation import is_one_line

M = TypeVar("M", bound=Model)
EMAIL_MAX: Final = 254
ERASED: Final = "[erased]"
"""Replaces an erased address in a text that stays."""
_email = EmailValidator()
_SEPARATORS: Final = [f"{code:02x}" for code in range(128) if not re.match(r"[\w.+%-]", chr(code))]
_BEGIN: Final = "|".join(
    (
        r"(?<![\w.+%-])",
        # Escapes end with letters and digits, but belong to no address: in JSON inside of a text,
        r"(?<=\\[nrtbf])",
        rf"(?<=\\u00(?:{'|'.join(_SEPARATORS)}))",
        # and in links, also in links inside of links.
        rf"(?<=%(?:{'|'.join(_SEPARATORS)}))",
        rf"(?<=%25(?:{'|'.join(_SEPARATORS)}))",
    )
)
"""Matches where an address may begin."""


def clean_email(text: str, field: str = "email") -> str:
    """Return an email address in lower case. Raises `RuleViolation` on `field`."""
    email = unicodedata.normalize("NFC", text.strip()).lower()
    try:
        if len(email) > EMAIL_MAX or not is_one_line(email):
            raise ValidationError("")
        _email(email)
    except ValidationError:
        raise invalid(field, _("Enter an email address, such as name@example.com.")) from None
    return email


def pseudonym_of(user_id: int | None) -> str:
    """Return the name that replaces the name of an erased account."""
    return f"Former member {user_id}"


@dataclass(frozen=True)
class Person:
    """A person: an address as `clean_email` returns it, and the account with this address, if there is one."""

    email: str
    user_id: int | None = None
    username: str = field(default="", repr=False)

    @property
    def pseudonym(self) -> str:
        """The name that replaces the name of the account."""
        return pseudonym_of(self.user_id)

    def filter_mentions(self, rows: QuerySet[M], *columns: str) -> QuerySet[M]:
        """Filter rows whose columns may contain the address. Check each row with `is_mentioned`.

        Reads the whole table. The filter also finds longer addresses that contain this one.
        """
        texts = {f"{column}_as_text": Cast(column, TextField()) for column in columns}
        found = Q()
        for name in texts:
            for spelling in self._stored_spellings:
                found |= Q(**{f"{name}__icontains": spelling})
        matching: QuerySet[M] = rows.alias(**texts).filter(found)
        return matching

    def is_mentioned(self, value: Json) -> bool:
        """Return whether a text of the value contains the address, and not only a longer one."""
        return any(self._pattern.search(text) for text in _texts(value))

    def passages(self, text: str) -> list[str]:
        """Return the parts of a text that mention the address: the texts in its JSON, otherwise its lines."""
        try:
            parts = list(_texts(json.loads(text)))
        except (ValueError, RecursionError):
            # Quotation marks too: JSON may be cut off.
            parts = re.split(r'[\r\n"]', text)
        return [part for part in parts if self._pattern.search(part)]

    def is_whole(self, value: Json) -> bool:
        """Return whether the value is the address and nothing else."""
        if not isinstance(value, str):
            return False
        return unicodedata.normalize("NFC", value.strip()).lower() == self.email

    def mask(self, value: Json) -> Json:
        """Return the value with `ERASED` in place of the address."""
        if isinstance(value, str):
            return self._pattern.sub(ERASED, value)
        if isinstance(value, Mapping):
            return {str(self.mask(key)): self.mask(item) for key, item in value.items()}
        if isinstance(value, Sequence):
            return [self.mask(item) for item in value]
        return value

    @cached_property
    def _spellings(self) -> tuple[str, ...]:
        # The second one is for addresses in links.
        return tuple(dict.fromkeys((self.email, quote(self.email, safe=""))))

    @cached_property
    def _stored_spellings(self) -> tuple[str, ...]:
        # SQLite stores JSON with escapes, PostgreSQL without.
        escaped = (json.dumps(one)[1:-1] for one in self._spellings)
        return tuple(dict.fromkeys((*self._spellings, *escaped)))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        either = "|".join(map(re.escape, self._spellings))
        # joanna@example.com and anna@example.com.au are other people than anna@example.com.
        return re.compile(rf"(?:{_BEGIN})(?:{either})(?![\w-])(?!\.\w)", re.IGNORECASE)


def _texts(value: Json) -> Iterator[str]:
    # A stack, because the nesting of stored JSON is not bounded.
    pending: list[Json] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            yield from item
            pending += item.values()
        elif isinstance(item, Sequence):
            pending += item
