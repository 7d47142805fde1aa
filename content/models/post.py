"""The post with its live fields and terms, its search entry, and the origin of a copy."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext, pgettext

from content.document.post_fields import (
    BYLINE_MAX,
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
"""Maximum number of ancestors of a post."""
NO_PARENT: Final = UUID(int=0)
"""The replacement for a null parent in the unique constraint on slugs."""
ALIVE_CONDITION: Final = Q(deleted_at__isnull=True, variation_of__isnull=True)
TRASHED_CONDITION: Final = Q(deleted_at__isnull=False, variation_of__isnull=True)


class Status(models.TextChoices):
    DRAFT = "draft"
    PUBLISHED = "published"
    ARCHIVED = "archived"


SCHEDULED: Final = "scheduled"
"""A draft with a time of publication. Not a stored status: it follows from `publish_at`."""
UNPUBLISHED: Final = "unpublished"
"""A draft that was published before. Not a stored status: it follows from `published_at`."""
SHOWN_STATUSES: Final = (*Status.values, SCHEDULED, UNPUBLISHED)


def shown_status(status: str, *, published_at: datetime | None, publish_at: datetime | None) -> str:
    """Return the status to display, one of `SHOWN_STATUSES`."""
    if status != Status.DRAFT:
        return status
    if publish_at is not None:
        return SCHEDULED
    return UNPUBLISHED if published_at is not None else status


def status_label(shown: str) -> str:
    """Return the translated label of a `shown_status`."""
    if shown == SCHEDULED:
        return pgettext("posts", "Scheduled")
    if shown == UNPUBLISHED:
        return pgettext("post status", "Unpublished")
    return in_words(str(Status(shown).label))


class PostQuerySet(models.QuerySet["Post"]):
    def kept(self) -> PostQuerySet:
        """Return the posts that are not deleted, including variations: all that can be opened by id."""
        return self.filter(deleted_at__isnull=True)

    def alive(self) -> PostQuerySet:
        """Return the posts that lists show: not deleted, and not a variation of another post."""
        return self.kept().filter(variation_of__isnull=True)

    def live(self) -> PostQuerySet:
        """Return the posts that visitors may see."""
        return self.alive().filter(status=Status.PUBLISHED)

    def running(self) -> PostQuerySet:
        """Return the variations that get visitors of their original."""
        return self.kept().filter(variation_running=True)


class Post(models.Model):
    """The live layer of a post. `version` grows with every change of live content.

    `content.document.post_fields` declares the editable fields. Fields that Python code uses by name are also
    declared here, and a system check compares both. `column_of` creates the other columns.

    `is_placeholder`: an agent created the post and it was not approved yet; its live title and slug are
    placeholders for the values in AI Review. `path`: the URL path, set when slug, parent or locale changes.

    A variation is another version of the content of `variation_of`. It shares the place of that post, is in no list
    (`PostQuerySet.alive`) and is never published. While `variation_running`, `variation_weight` percent of the
    visitors of the published original see the variation.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    type = models.SlugField(max_length=60)
    locale = models.CharField(max_length=LOCALE_MAX)
    slug = models.CharField(max_length=SLUG_MAX)
    title = models.CharField(max_length=TITLE_MAX)
    excerpt = models.TextField(blank=True, default="", max_length=EXCERPT_MAX)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.DRAFT)
    byline = models.CharField(max_length=BYLINE_MAX, null=True, blank=True)
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
    unpublish_at = models.DateTimeField(null=True, blank=True)
    published_at = models.DateTimeField(null=True, blank=True)
    translation_group = models.UUIDField(default=uuid4)
    translated_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    authors = models.JSONField(default=list, db_default=Value([], models.JSONField()))
    """Ids of the accounts that readers see as authors, in order. `PostAuthor` has the same as rows."""
    locked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
    )
    locked_until = models.DateTimeField(null=True, blank=True)
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
            # SQL treats nulls as distinct, so top-level posts need a value in place of the missing parent.
            models.UniqueConstraint(
                "type",
                "locale",
                "slug",
                Coalesce("parent", Value(NO_PARENT, output_field=models.UUIDField())),
                condition=ALIVE_CONDITION,
                name="post_slug_once",
            ),
            models.UniqueConstraint(
                fields=["translation_group", "locale"],
                condition=ALIVE_CONDITION,
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
                "is_placeholder",  # lets an index-only scan count the published posts
                name="post_list",
                condition=ALIVE_CONDITION,
            ),
            models.Index(
                "type",
                "locale",
                "status",
                F("updated_at").desc(),
                "id",
                name="post_list_of_type",
                condition=ALIVE_CONDITION,
            ),
            models.Index(
                "type",
                "locale",
                F("published_at").desc(),
                "id",
                name="post_newest",
                condition=ALIVE_CONDITION & Q(status="published", is_placeholder=False),
            ),
            models.Index(
                F("updated_at").desc(), "id", name="post_changed", condition=ALIVE_CONDITION
            ),
            models.Index(fields=["path"], name="post_path", condition=ALIVE_CONDITION),
            # Links to a post in the trash are left out of answers.
            models.Index(fields=["path"], name="post_path_in_trash", condition=TRASHED_CONDITION),
            models.Index(
                fields=["variation_of"], name="post_running", condition=Q(variation_running=True)
            ),
            models.Index(
                fields=["publish_at"], name="post_due", condition=Q(publish_at__isnull=False)
            ),
            models.Index(
                fields=["unpublish_at"],
                name="post_expiring",
                condition=Q(unpublish_at__isnull=False),
            ),
            models.Index(
                fields=["locked_by"], name="post_locked", condition=Q(locked_by__isnull=False)
            ),
        ]

    @property
    def shown_status(self) -> str:
        """The status to display: a draft can be `scheduled`, or `unpublished` if it was published before."""
        return shown_status(self.status, published_at=self.published_at, publish_at=self.publish_at)

    @property
    def shown_status_label(self) -> str:
        """The translated label of `shown_status`."""
        return status_label(self.shown_status)

    @property
    def live_layer_label(self) -> str:
        """The translated label of the layer below Review: `Live` only if visitors see it."""
        is_live = self.status == Status.PUBLISHED or self.variation_running
        return gettext("Live") if is_live else gettext("Draft")

    def __str__(self) -> str:
        return self.title


_COLUMN_TYPES: Final[Mapping[FieldKind, type[models.Field[Any, Any]]]] = {
    "text": models.CharField,
    "textarea": models.TextField,
    "url": models.CharField,
    "json": models.JSONField,
    "number": models.IntegerField,
    "people": models.JSONField,
    "moment": models.DateTimeField,
}


def column_of(field: PostField) -> models.Field[Any, Any]:
    """Return the column of a declared field that `Post` does not declare itself.

    Raises TypeError for a foreign key or a field that is not nullable.
    """
    # Nullable, because older documents do not have the field. A foreign key needs its target, which only `Post` can
    # name.
    if field.kind not in _COLUMN_TYPES or not field.is_nullable:
        raise TypeError(
            f"{field.column}: declare it as `… | None`, and spell a foreign key in Post"
        )
    return _COLUMN_TYPES[field.kind](null=True, blank=True, max_length=field.max_length)


_DECLARED_COLUMNS: Final = {column.attname for column in Post._meta.local_concrete_fields}
for _field in POST_FIELDS.values():
    if _field.column not in _DECLARED_COLUMNS:
        Post.add_to_class(_field.column, column_of(_field))


class SearchEntry(models.Model):
    """The search entry of a post. Its words are not a model field, because each database stores them differently."""

    id = models.BigAutoField(primary_key=True)
    post = models.OneToOneField(Post, on_delete=models.CASCADE, related_name="+")
    word_rules = models.PositiveSmallIntegerField(db_default=1)
    """Version of the tokenizer rules that produced the words."""

    def __str__(self) -> str:
        return f"words of {self.post_id}"


class SearchWord(models.Model):
    """A folded word of the published posts of a locale. `posts`: number of posts with it at the last collection."""

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
    """The origin of one translation or variation. The source is the post's `translated_from` or `variation_of`.

    `modules`: the copy's module id by source module id, null if the copy has no such module. `hashes`: for a
    translation, the hash of the source value by path at the time of translating. `untranslated`: paths of texts
    that are still copies of the source.
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
    """A live assignment of a term. Drafts hold the staged ones."""

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="post_terms")
    term = models.ForeignKey(Term, on_delete=models.CASCADE, related_name="post_terms")

    class Meta:
        db_table = "post_taxonomy_terms"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["post", "term"], name="post_term_once"),
        ]

    def __str__(self) -> str:
        return f"{self.term_id} on {self.post_id}"


class PostAuthor(models.Model):
    """A live author of a post, for filters of lists and the names that visitors read. Derived from `Post.authors`."""

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="author_rows")
    # Without a constraint: a document may name an account that was deleted since.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="authored",
        db_constraint=False,
    )
    place = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["post", "user"], name="post_author_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} of {self.post_id}"
