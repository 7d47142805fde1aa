"""Create: a live post by a person, or a post whose content is only in AI Review by an agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from content.document.changes import Changes, diff
from content.document.document import PostDocument
from content.document.post_fields import SCHEDULE_FIELDS
from content.layers.live import provenance_rows, revision_row, tags_of
from content.layers.stage import Staged, stage
from content.models import Layer, ModuleInstance, Post, Status
from content.post_checks.results import require_publishable
from content.posts.publication_date import check_published_at
from content.rules import check_changes
from content.rules.check import translation_taken, unique_constraint_error
from content.rules.place_scope import require_kind_in_scope, require_place_in_scope
from content.rules.publication_gates import before_publication
from content.store import lane, post_repository, search
from content.store.content_links import update_live_links
from content.store.document_edits import patch_fields, seed_group
from content.store.duplicate import pair_modules
from content.store.field_values import update_field_values
from content.store.layer_state import event_payload
from content.store.media_usage import update_live_references
from content.store.module_group_queries import find_group
from content.store.post_paths import check_paths_are_free, path_for
from content.store.publish_permissions import PUBLISH
from content.store.scopes import remember_sections, require_written_in_scope
from content.store.translation_status import record_source
from proofroom.accounts.models import User
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.compiled_queries import new_instance
from proofroom.core.database.inserts import insert_unless_conflict
from proofroom.core.errors import invalid
from proofroom.core.i18n.languages import require_site_language
from proofroom.core.json import Json
from proofroom.core.lane.session import is_lane
from proofroom.core.title_slugs import slug_of_title
from proofroom.definitions import find_post_type

PLACEHOLDER_TITLE = "Proposed by an agent"
Edit = Callable[[PostDocument], PostDocument]


@dataclass(frozen=True, slots=True)
class PostDates:
    """Dates of a post from another system: published, created and last changed. None means now."""

    published_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


NO_DATES: Final = PostDates()


@dataclass(frozen=True, slots=True)
class ProposedPost:
    post: Post
    staged: Staged


def shared_modules() -> dict[str, str]:
    """Return the instance ids of all global modules by slug."""
    rows = ModuleInstance.objects.globals().values_list("global_slug", "pk")
    return {str(slug): str(pk) for slug, pk in rows}


@transaction.atomic
def create_post(
    *,
    actor: Actor,
    type: str,
    fields: Mapping[str, Json],
    locale: str | None = None,
    status: str = Status.DRAFT,
    edit: Edit | None = None,
    seed: Edit | None = None,
    module_group: str | None = None,
    translation_of: Post | None = None,
    author: User | None = None,
    dates: PostDates = NO_DATES,
) -> Post:
    """Create a live post. `edit` builds its modules; without it, they come from `seed`, else from a module group.

    References in what `seed` returns may be missing, as in other copies. `module_group`: name or id of the group, by
    default the group of the post type. The creator is the actor unless `author` is given. Readers see the creator as
    author unless `fields` name others. Raises `RuleViolation` keyed by field; for a slug in use the key is `slug`.
    """
    actor.require_person("create live posts")
    if not (translation_of is not None and actor.can("posts.translate")):
        actor.require("posts.create")
    if status not in (Status.DRAFT, Status.PUBLISHED):
        raise invalid("status", _("A new post must be a draft or published."))
    has_date = dates.published_at is not None
    is_scheduled = any(fields.get(name) is not None for name in SCHEDULE_FIELDS)
    if status == Status.PUBLISHED or is_scheduled or has_date:
        actor.require(PUBLISH)
    if has_date:
        check_published_at(dates.published_at, status=status, is_variation=False)
    post = new_row(actor, type, locale, translation_of)
    if author is not None:
        post.author, post.authors = author, [author.pk]
    empty = empty_document(post)
    title = fields.get("title")
    wanted = {"slug": slug_of_title(title if isinstance(title, str) else "", post.locale), **fields}
    document = patch_fields(empty, wanted)
    seeded = None
    if edit is not None:
        document = edit(document)
    else:
        group = find_group(module_group) if module_group is not None else None
        seeded = seed(empty) if seed else seed_group(empty, group, shared_modules())
        document = replace(document, modules=seeded.modules)
    require_place_in_scope(post=post, before=empty, after=document, actor=actor)
    document = check_changes(
        post=post, before=empty, after=document, actor=actor, taken_over=seeded
    )
    require_names(document)
    if status == Status.PUBLISHED and document.fields.get("publishAt") is not None:
        raise invalid("publishAt", _("Only drafts can be scheduled."), code="not_a_draft")
    post.published_at = dates.published_at
    # Before `insert`, because a path pattern may contain the day.
    post.created_at = min(dates.created_at or post.created_at, post.created_at)
    changes = insert(post, empty, document, actor, status)
    save_import_dates(post, dates)
    if translation_of is not None:
        source = post_repository.load(translation_of)
        record_source(post, source, document, pair_modules(source, document))
    if status == Status.PUBLISHED or document.fields.get("publishAt") is not None:
        require_publishable(post, document)
        before_publication(post, lambda: document)
    record_created(post, changes, actor, source=translation_of)
    return post


def save_import_dates(post: Post, dates: PostDates) -> None:
    """Save the creation and change dates of an imported post. Dates in the future are ignored."""
    named = {"created_at": dates.created_at, "updated_at": dates.updated_at}
    now = timezone.now()
    past_dates = {
        name: moment for name, moment in named.items() if moment is not None and moment <= now
    }
    if past_dates:
        Post.objects.filter(pk=post.pk).update(**past_dates)
        for name, moment in past_dates.items():
            setattr(post, name, moment)


def require_names(document: PostDocument) -> None:
    """Raise `RuleViolation` if a new post has no title or slug.

    `check_changes` doesn't find this, because it only checks fields that differ from the empty document.
    """
    for name in ("title", "slug"):
        if not document.fields.get(name):
            raise invalid(name, _("%(name)s is required.") % {"name": name})


def record_created(
    post: Post, changes: Changes, actor: Actor, *, source: Post | None = None
) -> None:
    """Record the events of a new post, then check its path and the actor's scope."""
    published = ("post.published", "post.publish") if post.status == Status.PUBLISHED else ()
    outbox.record_each(
        ("post.created", *published),
        actor=actor,
        post_id=post.pk,
        payload=event_payload(post, changes),
        tags=tags_of(post),
    )
    if source is not None:
        record_translation(post, source, actor)
    check_paths_are_free([post], actor)
    require_written_in_scope(post, actor)


def record_translation(post: Post, source: Post, actor: Actor) -> None:
    payload = {
        **event_payload(post),
        "sourceId": str(source.pk),
        "sourceLocale": source.locale,
    }
    outbox.record("post.create-translation", actor=actor, post_id=post.pk, payload=payload)


@transaction.atomic
def propose_post(
    *,
    actor: Actor,
    type: str,
    fields: Mapping[str, Json],
    locale: str | None = None,
    module_group: str | None = None,
    edit: Edit | None = None,
    reason: str = "",
) -> ProposedPost:
    """Create a draft whose content is only in AI Review; its live title and slug are placeholders.

    `reason` is the explanation given by the agent or AI client.
    """
    actor.require("posts.create")
    actor.require_inside(None)
    post = new_row(actor, type, locale, None)
    insert_placeholder(post, actor)
    group = find_group(module_group) if module_group is not None else None
    seeded = seed_group(empty_document(post), group, shared_modules())

    def seed(document: PostDocument) -> PostDocument:
        title = fields.get("title")
        slug = slug_of_title(title if isinstance(title, str) else "", post.locale)
        return replace(patch_fields(document, {"slug": slug}), modules=seeded.modules)

    def build(document: PostDocument) -> PostDocument:
        document = patch_fields(document, fields)
        return edit(document) if edit else document

    staged = stage(
        post_id=post.pk,
        layer=Layer.AI_REVIEW,
        actor=actor,
        seed=seed,
        edit=build,
        taken_over=seeded,
        reason=reason,
    )
    return ProposedPost(post, staged)


def insert_placeholder(post: Post, actor: Actor) -> None:
    """Insert a new post whose content will be staged in AI Review."""
    # Random, so that a placeholder never takes a slug or path that another post needs.
    post.title, post.slug = PLACEHOLDER_TITLE, f"proposed-{uuid4().hex[:12]}"
    post.is_placeholder = True
    empty = empty_document(post)
    post.path = path_for(post)
    revision = revision_row(post, empty, diff(empty, empty), actor, "created")
    words, tags = search.words_of_post(post, empty), tags_of(post)
    if is_lane():
        is_made = lane.make_proposed_post(post, revision, tags)
        for update in words if is_made else ():
            update.execute()
        tags = []  # the function has changed the content version
    else:
        is_made = insert_unless_conflict(post, [revision], updates=words)
    if not is_made:
        raise unique_constraint_error(post, actor)
    payload = event_payload(post)
    outbox.record("post.created", actor=actor, post_id=post.pk, payload=payload, tags=tags)


def new_row(actor: Actor, type: str, locale: str | None, translation_of: Post | None) -> Post:
    """Return an unsaved post with the defaults of its type, in the translation group of `translation_of` if given."""
    remember_sections(actor)
    definition = find_post_type(type)
    locale = locale or settings.CMS_ENV.default_locale
    require_site_language(locale)
    require_kind_in_scope(type=type, locale=locale, actor=actor)
    post = new_instance(Post, id=uuid4(), type=type, locale=locale, author_id=actor.user.pk)
    post.custom_fields = definition.default_custom_fields()
    post.robots_json = definition.seo()["robotsJson"]
    post.authors = [actor.user.pk] if actor.is_person and actor.user.pk is not None else []
    post.created_at = timezone.now()
    if translation_of is not None:
        group: UUID = translation_of.translation_group
        existing = Post.objects.alive().filter(translation_group=group, locale=post.locale).first()
        if existing is not None:
            raise translation_taken(existing, actor)
        post.translation_group = group
        post.translated_from = translation_of
    return post


def empty_document(post: Post) -> PostDocument:
    """Return the document of a new post before anything is edited."""
    return PostDocument(type=post.type, locale=post.locale, fields=post_repository.fields_of(post))


def set_columns(post: Post, document: PostDocument) -> None:
    """Copy the fields of the document to the columns of an unsaved post."""
    for name, column in post_repository.COLUMNS.items():
        if name in document.fields:
            setattr(post, column, post_repository.column_value(name, document.fields[name]))
    post.custom_fields = document.custom_fields


def insert(
    post: Post,
    empty: PostDocument,
    document: PostDocument,
    actor: Actor,
    status: str = Status.DRAFT,
) -> Changes:
    """Insert a new post with its first revision and provenance, and return the changes from `empty` to `document`.

    Raises `RuleViolation` if another post has its path by now.
    """
    set_columns(post, document)
    post.status = status
    if status == Status.PUBLISHED and post.published_at is None:
        post.published_at = timezone.now()
    post.path = path_for(post)
    changes = diff(empty, document)
    revision = revision_row(post, document, changes, actor, "created")
    provenance = provenance_rows(post, revision, changes, actor, {})
    rows = post_repository.rows_of(post, document)
    words = search.words_of_post(post, document)
    if not insert_unless_conflict(post, *rows, [revision], provenance, updates=words):
        raise unique_constraint_error(post, actor)
    update_live_references([(post, None, document)])
    update_live_links([(post, None, document)])
    update_field_values([(post, None, document)])
    return changes
