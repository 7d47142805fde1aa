"""Selection of posts for an archive, with their ancestors, files, terms, forms and global modules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from content.document.document import PostDocument
from content.models import Draft, ModuleInstance, Post, PostModule, PostTerm, Status
from content.rules.references import find_props_references, find_references
from content.store import post_repository
from content.store.media_usage import GLOBAL, POST
from media.models import LIVE, MediaReference
from proofroom.archive.export import Choice, Export
from proofroom.core.batches import batches
from proofroom.core.errors import invalid
from proofroom.definitions import find_post_type, modules

_BATCH: Final = 100


def select_posts(export: Export) -> None:
    """Add the chosen posts and the objects they refer to, to `export.wanted`. Raises `RuleViolation`."""
    choice = export.choice
    ids = _chosen(choice)
    above = _with_related(ids, lambda part: Post.objects.filter(children__in=part)) - ids
    wanted = export.wanted
    wanted["posts"] = {str(id_) for id_ in ids | above}
    wanted["drafts"] = wanted["revisions"] = {str(id_) for id_ in ids}
    for name in ("media", "terms", "forms", "global-modules"):
        wanted[name] = set()
    for part in batches(ids | above, _BATCH):
        staged = [] if choice.published_only else _staged_on(set(part) & ids)
        places = PostModule.objects.filter(post__in=part, instance__scope="global")
        wanted["global-modules"] |= _texts(places.values_list("instance_id", flat=True))
        terms = PostTerm.objects.filter(post__in=part)
        wanted["terms"] |= _texts(terms.values_list("term_id", flat=True))
        uses = MediaReference.objects.filter(holder_kind=POST, holder_id__in=part)
        if choice.published_only:
            uses = uses.filter(layer=LIVE)
        wanted["media"] |= _texts(uses.values_list("asset_id", flat=True))
        live = post_repository.load_many(Post.objects.filter(pk__in=part))
        for document in [*(document for _post, document in live), *staged]:
            wanted["terms"].update(str(id_) for id_ in document.taxonomy_term_ids)
            wanted["global-modules"].update(
                module.instance_id for module in document.modules if module.scope == "global"
            )
            for reference in find_references(document):
                _want(export, reference.kind, reference.name)
    _select_globals(export)


def _select_globals(export: Export) -> None:
    for part in batches(sorted(export.wanted["global-modules"]), _BATCH):
        uses = MediaReference.objects.filter(holder_kind=GLOBAL, holder_id__in=part)
        export.wanted["media"] |= _texts(uses.values_list("asset_id", flat=True))
        for row in ModuleInstance.objects.filter(pk__in=part):
            definition = modules.get(row.type)
            if definition is not None:
                for reference in find_props_references(definition.Props, row.props):
                    _want(export, reference.kind, reference.name)


def _want(export: Export, kind: str, name: str) -> None:
    target = {"taxonomy-reference": "terms", "form-reference": "forms", "media": "media"}.get(kind)
    if target is not None:
        export.wanted[target].add(name)


def _texts(ids: Iterable[UUID | None]) -> set[str]:
    return {str(id_) for id_ in ids}


def _staged_on(ids: Collection[UUID]) -> Iterator[PostDocument]:
    drafts = Draft.objects.filter(post__in=ids, is_empty=False, document__isnull=False)
    for document in drafts.values_list("document", flat=True):
        if document is not None:
            yield PostDocument.from_json(document)


def _chosen(choice: Choice) -> set[UUID]:
    """Return the ids of the chosen posts, with their variations."""
    for name in choice.post_types:
        find_post_type(name)
    unknown = sorted(choice.locales - set(settings.CMS_ENV.locales))
    if unknown:
        raise invalid(
            "locale", _("%(locale)r is not a language of this site.") % {"locale": unknown[0][:20]}
        )
    rows = Post.objects.alive()
    if choice.post_types:
        rows = rows.filter(type__in=choice.post_types)
    if choice.locales:
        rows = rows.filter(locale__in=choice.locales)
    if choice.published_only:
        rows = rows.filter(status=Status.PUBLISHED)
    if choice.changed_since is not None:
        changed = Q(updated_at__gte=choice.changed_since)
        if not choice.published_only:
            late = Draft.objects.filter(is_empty=False, updated_at__gte=choice.changed_since)
            changed |= Q(pk__in=late.values("post"))
        rows = rows.filter(changed)
    found = set(rows.values_list("pk", flat=True).iterator(chunk_size=1000))
    if choice.posts:
        found &= {id_ for name in choice.posts for id_ in find_posts_named(name)}
    if choice.sections:
        roots = {id_ for name in choice.sections for id_ in find_posts_named(name)}
        found &= _with_related(roots, lambda part: Post.objects.filter(parent__in=part))
    variations: set[UUID] = set()
    for part in batches(found, _BATCH):
        variation_rows = Post.objects.kept().filter(variation_of__in=part)
        variations |= set(variation_rows.values_list("pk", flat=True))
    return found | variations


def find_posts_named(name: str) -> set[UUID]:
    """Return the posts with this id, path or slug; several posts may share a slug. Raises `RuleViolation`."""
    name = name.strip()
    rows = Post.objects.alive()
    try:
        found = set(rows.filter(pk=UUID(name)).values_list("pk", flat=True))
    except ValueError:
        if "/" in name:
            path = urlsplit(name.removeprefix(settings.SITE_URL)).path.rstrip("/")
            # With or without a trailing slash, however the user wrote the address.
            rows = rows.filter(path__in=(path, f"{path}/"))
        else:
            rows = rows.filter(slug=name)
        found = set(rows.values_list("pk", flat=True))
    if not found:
        raise invalid(
            "posts", _("No post has the ID, slug or address %(name)r.") % {"name": name[:200]}
        )
    return found


def _with_related(
    ids: set[UUID],
    related: Callable[[Collection[UUID]], QuerySet[Post]],
) -> set[UUID]:
    """Return the ids with all related ids outside the trash, level by level."""
    found, new = set(ids), set(ids)
    while new:
        level: set[UUID] = set()
        for part in batches(new):
            rows = related(part).filter(deleted_at=None)
            level |= set(rows.values_list("pk", flat=True))
        new = level - found
        found |= new
    return found
