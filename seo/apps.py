"""The app configuration."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class SeoConfig(AppConfig):
    """Redirects, the sitemap, and traces of addresses."""

    name = "seo"
    verbose_name = "SEO"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from content.post_checks.context import served_paths
        from proofroom.archive.registry import archive_kinds
        from proofroom.core import outbox
        from proofroom.core.admin.navigation import (
            NavigationEntry,
            NavigationGroup,
            navigation_entries,
        )
        from proofroom.core.find_replace import text_sources
        from seo.archive import RedirectArchive
        from seo.find_replace import RedirectSource
        from seo.queries import redirected_paths
        from seo.services.redirects import (
            redirect_moved_post,
            redirect_renamed_term,
            update_reactivated_redirect,
        )

        outbox.subscribe_in_transaction(("post.moved",), redirect_moved_post)
        outbox.subscribe_in_transaction(("content.changed",), redirect_renamed_term)
        outbox.subscribe_in_transaction(
            ("post.deleted", "post.updated"), update_reactivated_redirect
        )
        served_paths.register(redirected_paths)
        archive_kinds.register(RedirectArchive(), name=RedirectArchive.name, order=100)
        text_sources.register(RedirectSource(), name="redirects")
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SITE,
                gettext_lazy("Redirects"),
                "admin:seo_redirect_changelist",
                "redirect",
                is_frequent=False,
                permissions=("redirects.edit",),
            ),
            order=40,
        )
        navigation_entries.register(
            NavigationEntry(
                NavigationGroup.SITE,
                gettext_lazy("SEO"),
                "admin:seo",
                "search",
                is_frequent=False,
                permissions=("seo.manage",),
                covers=("admin:seo-trace",),
            ),
            order=50,
        )
