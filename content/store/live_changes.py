"""What became stale for visitors: `content.changed` of webhooks and the rows of `/api/public/changes`.

Both are made in a worker from the events of the changes, so that a write costs no statement more. Events that are
delivered together and have the same cause become one event.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Final, cast
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.utils import timezone

from content.event_kinds import EXPIRY, SCHEDULE
from content.models import ContentLink, ModuleInstance, Post, PostModule, PostTerm
from content.store.content_links import path_key
from content.store.indirect_updates import CAUSES
from content.store.media_usage import GLOBAL, POST
from content.store.post_queries import published_posts, shown_posts
from content.store.term_lists import find_moved_lists, find_remaining_lists, find_rename
from media.models import LIVE, MediaReference
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.batches import batches
from proofroom.core.caching.cache_tags import SITE, global_tag, post_tag, type_tag
from proofroom.core.database.compiled_queries import CompiledQuery, Row
from proofroom.core.event_kinds import LIVE_CHANGED
from proofroom.core.json import JsonObject
from proofroom.core.models import Event, LiveChange
from proofroom.core.outbox.live_effects import LiveEffect
from proofroom.core.site_urls import home_path
from proofroom.core.validation.input_validation import parse_uuid

MAX_PATHS: Final = 100
"""Maximum number of paths, and of gone paths, in one `content.changed`."""
_CHANGES_LOCK: Final = 7_304_020
"""Key of the PostgreSQL advisory lock for new rows."""
_BATCH_RANGE: Final = 5_000
"""Ids between the first and the last event of posts that moved together, at most."""
_CAUSE_PRECEDENCE: Final = (
    "url_pattern", "restore", "move", SCHEDULE, EXPIRY, "trash", "variation",
)  # fmt: skip
"""Causes that say more than the others, if several events of a post become one."""
_APPEARING: Final = frozenset({"post.created", "post.published", "post.restored", "post.moved"})
"""Events after which a post can be at an address where none was."""
MAX_AFFECTED: Final = 500
"""Posts and global modules that posts at new addresses change, named by one `content.changed`."""
_ADDRESSES_AT_ONCE: Final = 200
"""Addresses of one statement. SQLite limits the depth of its conditions."""
_POST_KINDS: Final = (
    "post.created", "post.updated", "post.published", "post.deleted", "post.restored",
)  # fmt: skip


def live_kinds() -> list[str]:
    """Return the names of the events that change what visitors can get."""
    return [kind.name for kind in outbox.all_kinds() if kind.is_live]


@dataclass(slots=True)
class _MergedEffects:
    """The merged effects of one cause. Dicts, because they have an order and no duplicates."""

    tags: dict[str, None] = field(default_factory=dict)
    addresses: dict[str, bool] = field(default_factory=dict)
    """Whether each address is gone, by the last event about it."""
    rows: dict[tuple[str, str | None], bool] = field(default_factory=dict)
    """Whether each tag with its path is gone."""
    appeared: dict[str, None] = field(default_factory=dict)
    """Addresses where a post came to be."""
    hop: int = 0
    last_event: int = 0

    def add(self, event: Event, effect: LiveEffect) -> None:
        first, *others = effect.tags
        self.tags |= dict.fromkeys(effect.tags)
        for path in effect.gone:
            self.addresses[path] = True
            self.rows[first, path] = True
        for path in effect.paths:
            self.addresses[path] = False
            self.rows[first, path] = False
        if event.name in _APPEARING:
            self.appeared |= dict.fromkeys(effect.paths)
        if not (effect.paths or effect.gone):
            self.rows[first, None] = effect.is_gone
        for tag in others:
            self.rows.setdefault((tag, None), False)
        self.hop, self.last_event = max(self.hop, event.hop), max(self.last_event, event.pk)

    def payload(self, cause: str) -> JsonObject:
        former = [path for path, is_gone in self.addresses.items() if is_gone]
        # Another post may have taken the address, before or after the event.
        taken = set(
            published_posts().filter(path__in=former).values_list("path", flat=True)
            if former
            else ()
        )
        paths = [path for path, is_gone in self.addresses.items() if not is_gone or path in taken]
        gone = [path for path in former if path not in taken]
        return {
            "cause": cause,
            "tags": list(self.tags),
            "paths": [*paths[:MAX_PATHS]],
            "gone": [*gone[:MAX_PATHS]],
            "pathsTotal": len(paths),
            "more": len(paths) > MAX_PATHS or len(gone) > MAX_PATHS,
        }


def record_live_changes(events: Sequence[Event]) -> None:
    """Record what these events made stale. Runs in the transaction that marks them as delivered."""
    told = _merge(_effects_of(events))
    if not told:
        return
    if connection.vendor == "postgresql":
        # Ids must grow in the order of the commits: a reader would miss a row that is committed after a later one.
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_CHANGES_LOCK])
    now = timezone.now()
    rows: list[LiveChange] = []
    for cause, one in told.items():
        for tag in _related_tags(one.tags, one.appeared):
            one.tags[tag] = None
            one.rows.setdefault((tag, None), False)
        actor = Actor(user=SYSTEM, via="system", event_id=one.last_event, hop=one.hop)
        outbox.record(LIVE_CHANGED, actor=actor, payload=one.payload(cause))
        rows += [
            LiveChange(tag=tag, path=path, is_gone=is_gone, at=now)
            for (tag, path), is_gone in one.rows.items()
        ]
    outbox.insert_with_deliveries(rows)


def _merge(effects: Iterable[tuple[Event, LiveEffect]]) -> dict[str, _MergedEffects]:
    """Return the effects by cause. All effects on a post have one cause."""
    found = list(effects)
    causes: dict[UUID, str] = {}
    for event, effect in found:
        if event.post_id is not None:
            known = causes.get(event.post_id)
            causes[event.post_id] = min(
                (effect.cause, known or effect.cause),
                key=lambda cause: (
                    _CAUSE_PRECEDENCE.index(cause)
                    if cause in _CAUSE_PRECEDENCE
                    else len(_CAUSE_PRECEDENCE)
                ),
            )
    told: dict[str, _MergedEffects] = {}
    for event, effect in found:
        cause = causes[event.post_id] if event.post_id is not None else effect.cause
        told.setdefault(cause, _MergedEffects()).add(event, effect)
    return told


def _effects_of(events: Sequence[Event]) -> list[tuple[Event, LiveEffect]]:
    """Return what visitors see differently after each event.

    At most eight queries for all events of one batch, and two for each term that was renamed.
    """
    causes = _causes_of(events)
    found: list[tuple[Event, LiveEffect]] = []
    for event in _with_whole_batches(events):
        kind = outbox.find_kind(event.name)
        effect = kind.effect(event.payload) if kind is not None and kind.effect else None
        if effect is not None:
            found.append((event, effect))
    found = _with_moved_lists(_at_their_originals(_only_live(found)))
    slugs = {
        effect.tags[0].removeprefix("global:")
        for _event, effect in found
        if effect.cause == "global_module"
    }
    shown = _shown_globals(slugs) if slugs else set()
    told: list[tuple[Event, LiveEffect]] = []
    for event, effect in found:
        if effect.cause == "global_module" and effect.tags[0] not in shown:
            continue
        cause = causes.get(event.cause_id or 0) if event.name == "post.updated" else None
        told.append((event, replace(effect, cause=cause) if cause is not None else effect))
    return told


def _causes_of(events: Sequence[Event]) -> Mapping[int, str]:
    """Return the causes of posts that another change updated, by the id of the event of that change."""
    ids = {
        event.cause_id
        for event in events
        if event.name == "post.updated" and event.cause_id is not None
    }
    found: dict[int, str] = {}
    for cause in Event.objects.filter(pk__in=ids, name__in=CAUSES) if ids else ():
        kind = outbox.find_kind(cause.name)
        effect = kind.effect(cause.payload) if kind is not None and kind.effect else None
        if effect is not None:
            found[cause.pk] = effect.cause
    return found


def _with_whole_batches(events: Sequence[Event]) -> Iterator[Event]:
    """Yield the events, with all posts that moved together in place of the first of them.

    They may be more than one transaction delivers, but become one event.
    """
    first: dict[str, int | None] = {}
    for event in events:
        batch = event.payload.get("batch") if event.name == "post.moved" else None
        if not isinstance(batch, str):
            yield event
            continue
        near = (event.pk - _BATCH_RANGE, event.pk + _BATCH_RANGE)
        rows = Event.objects.filter(name=event.name, pk__range=near, payload__batch=batch)
        if batch not in first:
            first[batch] = rows.order_by("pk").values_list("pk", flat=True).first()
        if first[batch] == event.pk:
            yield from rows.order_by("pk")


def _only_live(effects: Iterable[tuple[Event, LiveEffect]]) -> list[tuple[Event, LiveEffect]]:
    """Return the effects that visitors see. Two queries, none if all payloads say whether the post was live."""
    found = list(effects)
    unsure = [
        (event, effect)
        for event, effect in found
        if not effect.was_live and event.post_id is not None
    ]
    running = _running([event.post_id for event, effect in unsure if not effect.gone])
    formerly = _former_addresses([event.pk for event, effect in unsure if effect.gone])
    live: list[tuple[Event, LiveEffect]] = []
    for event, effect in found:
        if effect.was_live:
            live.append((event, effect))
        elif not effect.gone:  # a variation
            if event.post_id in running:
                live.append((event, effect))
        elif event.pk in formerly:
            address = formerly[event.pk]
            gone = effect.gone if address is None else (address,)
            live.append((event, replace(effect, gone=gone)))
    return live


def _running(ids: Iterable[UUID | None]) -> set[UUID]:
    """Return the running variations among posts."""
    wanted = {id_ for id_ in ids if id_ is not None}
    running = Post.objects.running().filter(pk__in=wanted)
    return set(running.values_list("pk", flat=True)) if wanted else set()


def _former(event_ids: Collection[int]) -> QuerySet[Event, Row]:
    earlier = Event.objects.filter(
        ~Q(payload={}),
        post_id=OuterRef("post_id"),
        pk__lt=OuterRef("pk"),
        name__in=_POST_KINDS,
    ).order_by("-pk")
    rows = Event.objects.filter(pk__in=event_ids).values(
        "pk",
        earlier_name=Subquery(earlier.values("name")[:1]),
        earlier_payload=Subquery(earlier.values("payload")[:1]),
        # The activity log may be pruned. A draft with a date was published once.
        was_published=Exists(
            Post.objects.filter(pk=OuterRef("post_id"), published_at__isnull=False)
        ),
    )
    return cast("QuerySet[Event, Row]", rows)


_FORMER: Final = CompiledQuery(_former)


def _former_addresses(event_ids: Collection[int]) -> dict[int, str | None]:
    """Return the addresses at which visitors saw the posts before these events, by id of the event.

    Events before which they saw none are missing; an address is None if the log no longer has it. One query.
    """
    if not event_ids:
        return {}
    rows = _FORMER.rows(list(event_ids))
    found: dict[int, str | None] = {}
    for row in rows:
        if row["earlier_name"] is None:
            if row["was_published"]:
                found[row["pk"]] = None
            continue
        payload = row["earlier_payload"]
        if row["earlier_name"] != "post.deleted" and payload.get("status") == "published":
            found[row["pk"]] = str(payload.get("url", ""))
    return found


def _at_their_originals(
    effects: Iterable[tuple[Event, LiveEffect]],
) -> list[tuple[Event, LiveEffect]]:
    """Return the effects, those of variations with the address of the original, where visitors see them.

    One query, none without variations.
    """
    found = list(effects)
    originals = {
        event.pk: original
        for event, effect in found
        if effect.cause == "variation"
        and (original := parse_uuid(str(event.payload.get("variationOf", "")))) is not None
    }
    if not originals:
        return found
    shown = published_posts().filter(pk__in=set(originals.values()))
    paths: dict[UUID, str] = dict(shown.values_list("pk", "path"))
    placed: list[tuple[Event, LiveEffect]] = []
    for event, effect in found:
        original = originals.get(event.pk)
        if original in paths:
            tags = tuple(dict.fromkeys((post_tag(original), *effect.tags)))
            effect = LiveEffect(effect.cause, tags, (paths[original],))
        placed.append((event, effect))
    return placed


def _with_moved_lists(
    effects: Iterable[tuple[Event, LiveEffect]],
) -> list[tuple[Event, LiveEffect]]:
    """Return the effects. Add the former and new addresses of the lists to the effects of renamed terms."""
    placed: list[tuple[Event, LiveEffect]] = []
    for event, effect in effects:
        rename = find_rename(event.payload)
        moved = find_moved_lists(rename) if rename is not None else []
        if rename is not None and moved:
            # Another term of the slug, of another language, can have posts in the same list.
            remaining = find_remaining_lists(rename)
            gone = [one.before for one in moved if one.before not in remaining]
            kept = [one.before for one in moved if one.before in remaining]
            paths = (*(one.after for one in moved), *kept)
            effect = replace(effect, paths=paths, gone=tuple(gone))
        placed.append((event, effect))
    return placed


def _shown_globals(slugs: Collection[str]) -> set[str]:
    """Return the tags of the global modules that visitors see. The names of others are not public."""
    placed = PostModule.objects.filter(instance__global_slug__in=slugs, post__in=shown_posts())
    names = placed.order_by().values_list("instance__global_slug", flat=True).distinct()
    return {global_tag(str(name)) for name in names}


def _related_tags(tags: Collection[str], appeared: Collection[str]) -> list[str]:
    """Return the tags of what shows the things with these tags, and of what the addresses that appeared change.

    One query for each kind of thing.
    """
    ids: dict[str, list[UUID]] = {}
    for tag in tags:
        kind, _colon, name = tag.partition(":")
        id_ = parse_uuid(name) if kind in ("post", "term", "media") else None
        if id_ is not None:
            ids.setdefault(kind, []).append(id_)
    slugs = [tag.removeprefix("global:") for tag in tags if tag.startswith("global:")]
    found = _affected_tags(appeared)
    slugs += [tag.removeprefix("global:") for tag in found if tag.startswith("global:")]
    if "post" in ids:
        groups = Post.objects.filter(pk__in=ids["post"]).values("translation_group")
        others = published_posts().filter(translation_group__in=groups)
        # Pages name their translations.
        found += map(post_tag, others.order_by("pk").values_list("pk", flat=True))
    if "term" in ids:
        used = PostTerm.objects.filter(term__in=ids["term"]).values("post_id")
        found += _types_of(Q(pk__in=used))
    if "media" in ids:
        uses = MediaReference.objects.filter(asset__in=ids["media"], layer=LIVE)
        posts = uses.filter(holder_kind=POST).values("holder_id")
        shared = uses.filter(holder_kind=GLOBAL).values("holder_id")
        found += _types_of(Q(pk__in=posts))
        globals_ = ModuleInstance.objects.globals().filter(pk__in=shared)
        slugs += [str(slug) for slug in globals_.values_list("global_slug", flat=True)]
        found += map(global_tag, slugs)
    if slugs:
        placed = PostModule.objects.filter(instance__global_slug__in=slugs).values("post_id")
        found += _types_of(Q(pk__in=placed))
    return [tag for tag in dict.fromkeys(found) if tag not in tags]


def _affected_tags(paths: Collection[str]) -> list[str]:
    """Return the tags of the posts and global modules that a post at these addresses changes, and of their types.

    Links to the addresses get the reference to the post that is there now, and pages below have one more ancestor.
    More than `MAX_AFFECTED` are the tag of the whole site, and so is a home page, which is above all pages and names
    the site. One query for 200 addresses, none without any.
    """
    if not {home_path(locale) for locale in settings.CMS_ENV.locales}.isdisjoint(paths):
        return [SITE]
    placed = PostModule.objects.filter(instance=OuterRef("module"), post__in=shown_posts())
    # Links that remember a post follow that post, not the address.
    links = ContentLink.objects.filter(
        Q(post__in=shown_posts()) | Exists(placed),
        kind=ContentLink.Kind.PATH,
        target_id__isnull=True,
    ).order_by()
    names = ("post_id", "post__type", "post__locale", "module__global_slug")
    found: dict[str, None] = {}
    for part in batches(paths, _ADDRESSES_AT_ONCE):
        linking = links.filter(key__in=list(map(path_key, part))).values_list(*names)
        below = reduce(or_, (Q(path__startswith=f"{path}/") for path in part))
        pages = published_posts().filter(below).order_by()
        no_slug = Value(None, output_field=CharField(max_length=100))
        rows = linking.union(pages.values_list("pk", "type", "locale", no_slug))
        holders = list(rows[: MAX_AFFECTED + 1])
        if len(holders) > MAX_AFFECTED:
            return [SITE]
        for post_id, type_, locale, slug in holders:
            tags = (global_tag(slug),) if slug else (post_tag(post_id), type_tag(type_, locale))
            found |= dict.fromkeys(tags)
    return list(found)


def _types_of(posts: Q) -> list[str]:
    """Return the tags of the types of the posts among these that visitors see. Lists of a type show such posts."""
    rows = shown_posts().filter(posts).order_by("type", "locale")
    return [type_tag(*row) for row in rows.values_list("type", "locale").distinct()]


def delete_old_changes(*, days: int) -> int:
    """Delete the rows older than this number of days. Return how many."""
    return LiveChange.objects.filter(at__lt=oldest_change(days)).delete()[0]


def oldest_change(days: int) -> datetime:
    """Return the time since which all changes are known."""
    return timezone.now() - timedelta(days=days)
