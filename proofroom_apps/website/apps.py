"""Registers the app with Django, so that its templates and translations are found."""

from django.apps import AppConfig


class WebsiteConfig(AppConfig):
    name = "proofroom_apps.website"
    label = "proofroom_website"
    verbose_name = "Website"

    def ready(self) -> None:
        from content.api.page_heads import head_builders
        from content.post_checks.context import served_paths
        from proofroom_apps.website.delivered_heads import delivered_head
        from proofroom_apps.website.view_paths import view_paths

        served_paths.register(view_paths)
        head_builders.register(delivered_head, name="website")
