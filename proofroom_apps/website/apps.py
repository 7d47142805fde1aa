"""Registers the app with Django, so that its templates and translations are found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.apps import AppConfig

if TYPE_CHECKING:
    from content.api.delivery.page_heads import DeliveredPage, PageHeadAnswer


def _delivered_head(page: DeliveredPage) -> PageHeadAnswer:
    """Return the metadata of a page. Loads the code that renders pages only when it is needed."""
    from proofroom_apps.website.delivered_heads import delivered_head

    return delivered_head(page)


class WebsiteConfig(AppConfig):
    name = "proofroom_apps.website"
    label = "proofroom_website"
    verbose_name = "Website"

    def ready(self) -> None:
        from content.api.delivery.page_heads import head_builders
        from content.post_checks.context import served_paths
        from proofroom_apps.website.view_paths import view_paths

        served_paths.register(view_paths)
        head_builders.register(_delivered_head, name="website")
