"""The app configuration."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from proofroom.core.database import migrate


class ContentConfig(AppConfig):
    name = "content"
    label = "content"
    verbose_name = "Content"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from content import checks  # noqa: F401  # checks register themselves
        from content.archive.registration import register_kinds
        from content.find_replace.sources import GlobalModuleSource, PostSource
        from content.inbox.queries import read_inbox_metrics
        from content.inbox.rows import check_queue, follow
        from content.layers.term_removal import PostTermUsage
        from content.modules.shared_kind import GlobalModuleKind
        from content.post_checks.results import require_variation
        from content.posts import event_subscribers
        from content.posts.audience import PostTableAudience
        from content.posts.schedule import read_overdue_metrics
        from content.store import media_usage
        from content.store.layer_state import layers_written
        from content.store.post_queries import visible_titles
        from content.store.scopes import PostTableLookup, SectionPart, is_in_scope
        from content.store.traffic import before_variation_starts
        from media.scopes import scoped_holders
        from media.usage_sources import holder_lookups
        from proofroom.core import realtime
        from proofroom.core.activity.presenters import name_lookups
        from proofroom.core.content_scope import (
            post_lookups,
            scope_checks,
            scope_dimensions,
        )
        from proofroom.core.diagnostics import doctor
        from proofroom.core.find_replace import text_sources
        from proofroom.core.observability.metrics import read_metrics
        from proofroom.core.post_type_names import post_type_sources
        from proofroom.definitions import post_types
        from proofroom.shared_content.shared_types import GLOBAL_MODULE, shared_kinds
        from proofroom.taxonomies.services import term_usages

        event_subscribers.subscribe()
        register_kinds()
        name_lookups.register(visible_titles, name="post")
        scoped_holders.register((media_usage.POST, media_usage.ids_of_posts_in_scope))
        holder_lookups.register(media_usage.label_posts, name=media_usage.POST)
        holder_lookups.register(media_usage.label_global_modules, name=media_usage.GLOBAL)
        post_type_sources.register(
            lambda: {type_.name: type_.label for type_ in post_types}, name="content"
        )
        realtime.post_audiences.register(PostTableAudience(), name="posts")
        layers_written.register(follow)
        before_variation_starts.register(require_variation)
        read_metrics.register(read_inbox_metrics)
        read_metrics.register(read_overdue_metrics)
        scope_checks.register(is_in_scope)
        scope_dimensions.register(SectionPart(), name="sections")
        post_lookups.register(PostTableLookup(), name="posts")
        doctor.app_checks.register(("inbox", check_queue, doctor.CHECK_DATABASE))
        # Drafts may be older than the inbox, and only after `migrate` all tables exist.
        post_migrate.connect(_update_derived_data, sender=self)
        text_sources.register(PostSource(), name="posts")
        text_sources.register(GlobalModuleSource(), name="modules")
        term_usages.register(PostTermUsage(), name="content")
        shared_kinds.register(GlobalModuleKind(), name=GLOBAL_MODULE, order=10)


def _update_derived_data(**kwargs: Any) -> None:
    if not migrate.is_complete():
        return
    from content.inbox.rows import needs_rebuild, rebuild
    from content.migration_operations.derived_data import follow_content_migrations
    from content.store import content_links
    from content.store.field_values import follow_filterable_fields
    from content.store.search import follow_word_rules

    follow_content_migrations()
    follow_word_rules()
    if needs_rebuild():
        rebuild()
    if content_links.needs_rebuild():
        content_links.rebuild_links()
    follow_filterable_fields()
