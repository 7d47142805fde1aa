"""A post: its live fields and terms, its search entry, the origin of a copy. Modules and drafts are other rows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce
from django.utils.translation import pgettext

from content.document.post_fields import (
    EXCERPT_MAX,
    META_MAX,
    POST_FIELDS,
    SLUG_MAX,
    TITLE_MAX,
    FieldKind,
    PostField,
)
from proofroom.core.i18n import in_words
from proofroom.core.validation.limits import LOCALE_MAX, URL_MAX
from proofroom.taxonomies.models import Term

VARIATION_MAX = 40
VARIATION_PATTERN: Final = rf"^[A-Za-z0-9][A-Za-z0-9_-]{{0,{VARIATION_MAX - 1}}}$"
MAX_DEPTH: Final = 20
"""Posts that may stand above another, one above the other."""
NO_PARENT: Final = UUID(int=0)
"""Stands for the missing parent in the constraint of addresses."""
STANDS_FOR_ITSELF: Final = Q(deleted_at__isnull=True, variation_of__isnull=True)


class Status(models.TextChoices):
    DRAFT = "draft"
    PUBLISHED = "published"
    ARCHIVED = "archived"


UNPUBLISHED: Final = "unpublished"
"""How people read a draft that was live and was taken down. It is no status of its own: it follows from the dates."""


def shown_status(status: str, published_at: datetime | None) -> str:
    """The status of a post as people read it."""
    return UNPUBLISHED if status == Status.DRAFT and published_at is not None else status


def status_label(shown: str) -> str:
    """The word for what `shown_status` answers, in the language of the reader."""
    return (
        pgettext("post status", "Unpublished")
        if shown == UNPUBLISHED
        else in_words(str(Status(shown).label))
    )


class PostQuerySet(models.QuerySet["Post"]):
    def kept(self) -> PostQuerySet:
        """Those not deleted, variations among them: what can be reached by its id."""
        return self.filter(deleted_at__isnull=True)

    def alive(self) -> PostQuerySet:
        """Those not deleted that stand for themselves: what lists show. Variations stand for another post."""
        return self.kept().filter(variation_of__isnull=True)

    def live(self) -> PostQuerySet:
        """Those that visitors may see."""
        return self.alive().filter(status=Status.PUBLISHED)

    def running(self) -> PostQuerySet:
        """The variations that take visitors from their original."""
        return self.kept().filter(variation_running=True)


class Post(models.Model):
    """The live layer of a post. `version` grows with every change of live content.

    `content.document.post_fields` declares the fields that people write. Fields that Python reads by name are spelled
    here too, and a check compares both. `column_of` makes the other columns.

    `is_placeholder` marks a post that an agent made and nobody approved: its live title and slug stand in for
    what waits in AI Review. `path` is the URL's path, set whenever slug, parent or locale changes.

    A variation is another version of the content of `variation_of`, whose place in the site it shares: no list
    shows it (`PostQuerySet.alive`), and it is never published. While it is running (`variation_running`),
    `variation_weight` percent of the visitors of a published original are shown it there.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    type = models.SlugField(max_length=60)
    locale = models.CharField(max_length=LOCALE_MAX)
    slug = models.CharField(max_length=SLUG_MAX)
    title = models.CharField(max_length=TITLE_MAX)
    excerpt = models.TextField(blank=True, default="", max_length=EXCERPT_MAX)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.DRAFT)
    meta_title = models.CharField(max_length=TITLE_MAX, null=True, blank=True)
    meta_description = models.CharField(max_length=META_MAX, null=True, blank=True)
    canonical_url = models.CharField(max_length=URL_MAX, null=True, blank=True)
    robots_json = models.JSONField(null=True, blank=True)
    jsonld_overrides = models.JSONField(null=True, blank=True)
    custom_fields = models.JSONField(default=dict, blank=True)
    featured_media = models.ForeignKey(
        "media.Asset", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="children"
    )
    order_index = models.IntegerField(default=0)
    publish_at = models.DateTimeField(null=True, blank=True)
    published_at = models.DateTimeField(null=True, blank=True)
    translation_group = models.UUIDField(default=uuid4)
    translated_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    variation_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="variations"
    )
    variation = models.CharField(max_length=VARIATION_MAX, default="", blank=True)
    variation_weight = models.PositiveSmallIntegerField(null=True, blank=True)
    variation_running = models.BooleanField(default=False)
    path = models.CharField(max_length=URL_MAX, default="", blank=True)
    is_placeholder = models.BooleanField(default=False)
    version = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager[Post]] = models.Manager.from_queryset(PostQuerySet)()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Without a parent the address is unique too, which a null would not make it.
            models.UniqueConstraint(
                "type",
                "locale",
                "slug",
                Coalesce("parent", Value(NO_PARENT, output_field=models.UUIDField())),
                condition=STANDS_FOR_ITSELF,
                name="post_slug_once",
            ),
            models.UniqueConstraint(
                fields=["translation_group", "locale"],
                condition=STANDS_FOR_ITSELF,
                name="post_one_per_locale",
            ),
            models.UniqueConstraint(
                fields=["variation_of", "variation"],
                condition=Q(deleted_at__isnull=True, variation_of__isnull=False),
                name="post_variation_once",
            ),
            models.CheckConstraint(
                name="post_variation_has_name",
                condition=Q(
                    variation_of__isnull=False, variation__gt="", variation_weight__isnull=False
                )
                | Q(variation_of__isnull=True, variation="", variation_weight__isnull=True),
            ),
            models.CheckConstraint(
                name="post_variation_not_published",
                condition=~Q(status="published", variation_of__isnull=False),
            ),
            models.CheckConstraint(
                name="post_variation_runs",
                condition=Q(variation_running=False) | Q(variation_of__isnull=False),
            ),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(
                "locale",
                F("updated_at").desc(),
                "id",
                "type",
                "status",
                "is_placeholder",  # so that the published are counted off without reading a row
                name="post_list",
                condition=STANDS_FOR_ITSELF,
            ),
            models.Index(
                "type",
                "locale",
                "status",
                F("updated_at").desc(),
                "id",
                name="post_list_of_type",
                condition=STANDS_FOR_ITSELF,
            ),
            models.Index(
                "type",
                "locale",
                F("published_at").desc(),
                "id",
                name="post_newest",
                condition=STANDS_FOR_ITSELF & Q(status="published", is_placeholder=False),
            ),
            models.Index(
                F("updated_at").desc(), "id", name="post_changed", condition=STANDS_FOR_ITSELF
            ),
            models.Index(fields=["path"], name="post_path", condition=STANDS_FOR_ITSELF),
            models.Index(
                fields=["variation_of"], name="post_running", condition=Q(variation_running=True)
            ),
            models.Index(
                fields=["publish_at"], name="post_due", condition=Q(publish_at__isnull=False)
            ),
        ]

    @property
    def shown_status(self) -> str:
        """The status as people read it: a draft that was live once is `unpublished`."""
        return shown_status(self.status, self.published_at)

    @property
    def shown_status_label(self) -> str:
        """The word for `shown_status`, in the language of the reader."""
        return status_label(self.shown_status)

    def __str__(self) -> str:
        return self.title


_COLUMN_TYPES: Final[Mapping[FieldKind, type[models.Field[Any, Any]]]] = {
    "text": models.CharField,
    "textarea": models.TextField,
    "url": models.CharField,
    "json": models.JSONField,
    "number": models.IntegerField,
    "moment": models.DateTimeField,
}


def column_of(field: PostField) -> models.Field[Any, Any]:
    """The column of a declared field that `Post` does not spell.

    It is nullable, for documents of earlier do not have the field. A foreign key `Post` must spell.
    """
    if field.kind not in _COLUMN_TYPES or not field.is_nullable:
        raise TypeError(
            f"{field.column}: declare it as `… | None`, and spell a foreign key in Post"
        )
    return _COLUMN_TYPES[field.kind](null=True, blank=True, max_length=field.max_length)


_SPELLED: Final = {column.attname for column in Post._meta.local_concrete_fields}
for _field in POST_FIELDS.values():
    if _field.column not in _SPELLED:
        Post.add_to_class(_field.column, column_of(_field))


class SearchEntry(models.Model):
    """The post in the search. Its words are no column of the model: each database keeps them in its own way."""

    id = models.BigAutoField(primary_key=True)
    post = models.OneToOneField(Post, on_delete=models.CASCADE, related_name="+")
    word_rules = models.PositiveSmallIntegerField(db_default=1)
    """The version of the rules by which its words were cut."""

    def __str__(self) -> str:
        return f"words of {self.post_id}"


class SearchWord(models.Model):
    """A folded word of the published posts of a locale, and how many had it when words were last collected."""

    id = models.BigAutoField(primary_key=True)
    locale = models.CharField(max_length=20)
    beginning = models.CharField(max_length=1)
    word = models.CharField(max_length=64)
    posts = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["locale", "word"], name="search_word")
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["locale", "beginning", "-posts"], name="search_word_beginning")
        ]

    def __str__(self) -> str:
        return self.word


class CopyOrigin(models.Model):
    """Of one translation or variation; its source is `translated_from` or `variation_of` of the post.

    `modules` maps each module of the source that is known here to its copy, null for one that the copy does
    without. `hashes` has, per path of a translation, that of the source's value that it was made from;
    `untranslated` the paths of texts that were copied from the source and not written since.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    post = models.OneToOneField(Post, on_delete=models.CASCADE, related_name="origin")
    modules = models.JSONField(default=dict)
    hashes = models.JSONField(default=dict)
    untranslated = models.JSONField(default=list)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name: ClassVar[str] = "origin of a copy"

    def __str__(self) -> str:
        return f"origin of {self.post_id}"


class PostTerm(models.Model):
    """A live assignment. Staged ones stand in the drafts."""

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="post_terms")
    term = models.ForeignKey(Term, on_delete=models.CASCADE, related_name="post_terms")

    class Meta:
        db_table = "post_taxonomy_terms"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["post", "term"], name="post_term_once"),
        ]

    def __str__(self) -> str:
        return f"{self.term_id} on {self.post_id}"
