"""Editorial briefs: what people tell agents and AI clients about the site's language."""

from __future__ import annotations

from typing import ClassVar, Final, NotRequired
from uuid import uuid4

from django.db import models
from typing_extensions import TypedDict

from proofroom.core.validation.limits import LOCALE_MAX

NAME_MAX: Final = 200
TYPE_MAX: Final = 60
SECTION_MAX: Final = 300
TEXT_MAX: Final = 2_000
"""Characters of the audience and of the voice."""
ADDRESS_MAX: Final = 500
READING_LEVEL_MAX: Final = 300


class StoredTerm(TypedDict):
    """A term and how to use it. Keys without a value are absent.

    `preferred`: the term to use instead. `forbidden`: the term must not be used. `translations`: by language code.
    """

    term: str
    preferred: NotRequired[str]
    forbidden: NotRequired[bool]
    translations: NotRequired[dict[str, str]]
    note: NotRequired[str]


class StoredExample(TypedDict):
    """A text before and after an approved edit."""

    before: str
    after: str


class Brief(models.Model):
    """What holds for texts of a language, post type and section; an empty one of these means all.

    `section` is the leading path of a post's address, without the language and without slashes at its ends.
    `never`, `protected_names`: lists of texts. `terms`: list of `StoredTerm`. `examples`: list of `StoredExample`.
    `version` grows with every change, to detect a stale writer; the versions are revisions of shared content.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    name = models.CharField(max_length=NAME_MAX)
    locale = models.CharField(max_length=LOCALE_MAX, blank=True, default="")
    type = models.SlugField(max_length=TYPE_MAX, blank=True, default="", db_index=False)
    section = models.CharField(max_length=SECTION_MAX, blank=True, default="")
    audience = models.TextField(blank=True, default="")
    voice = models.TextField(blank=True, default="")
    address = models.TextField(blank=True, default="")
    reading_level = models.TextField(blank=True, default="")
    never = models.JSONField(default=list, blank=True)
    terms = models.JSONField(default=list, blank=True)
    protected_names = models.JSONField(default=list, blank=True)
    examples = models.JSONField(default=list, blank=True)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = "editorial brief"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["locale", "type", "section"], name="brief_once_per_place"
            ),
        ]

    def __str__(self) -> str:
        return self.name
