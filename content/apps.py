"""Registers the app with Django."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from core import schema_changes


class ContentConfig(AppConfig):
    name = "content"
    label = "content"
    verbose_name = "Content"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from content import (  # noqa: F401  # checks and tools register themselves
            checks,
            media_holders,
            search_following,
            tools,
            tree_moves,
        )
        from content.definitions import post_types
        from content.editing import editing_of
        from content.layers.hooks import layers_written
        from content.live import posts_that_one_may_see
        from content.media_following import GLOBAL, POST
        from content.pattern_moves import follow_pattern
        from content.replacing.posts import PostSource
        from content.replacing.shared import MENUS, TERMS, GlobalModuleSource
        from content.titles import titles_seen_by
        from content.waiting.following import follow
        from content.waiting.health import queue
        from core import doctor, events, live
        from core.activity.names import name_lookups
        from core.post_kinds import post_type_sources
        from core.replacing import text_sources
        from media.holders import holder_lookups

        name_lookups.register(titles_seen_by, name="post")
        holder_lookups.register(media_holders.posts, name=POST)
        holder_lookups.register(media_holders.global_modules, name=GLOBAL)
        post_type_sources.register(
            lambda: {type_.name: type_.label for type_ in post_types}, name="content"
        )
        events.subscribe(
            ["urlPattern.changed"],
            follow_pattern,
            id="content.pattern_moves.follow_pattern",
            apart=True,
        )
        events.subscribe(
            [tree_moves.MOVED],
            tree_moves.follow_tree,
            id="content.tree_moves.follow_tree",
            apart=True,
        )
        events.subscribe(
            [search_following.STALE],
            search_following.follow,
            id="content.search_following.follow",
            apart=True,
        )
        live.visibility_rules.register(posts_that_one_may_see)
        live.presence_sources.register(editing_of)
        layers_written.register(follow)
        doctor.app_checks.register(("inbox", queue, "run ./run migrate first"))
        # Drafts from before there was a queue, at the one moment when the tables are sure to be there.
        post_migrate.connect(_list_what_waits, sender=self)
        text_sources.register(PostSource(), name="posts")
        text_sources.register(GlobalModuleSource(), name="modules")
        text_sources.register(MENUS)
        text_sources.register(TERMS)


def _list_what_waits(**kwargs: Any) -> None:
    if not schema_changes.is_complete():
        return
    from content.waiting.following import lacking, rebuild

    if lacking():
        rebuild()
