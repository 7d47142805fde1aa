"""Registers the app with Django."""

from django.apps import AppConfig


class EmbedsConfig(AppConfig):
    name = "proofroom_apps.embeds"
    label = "proofroom_embeds"
    verbose_name = "Content"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from content.presenters.embeds import load_embeds
        from proofroom_apps.embeds.post_events import subscribe_to_posts
        from proofroom_apps.embeds.presenters import load_cards, load_delivered
        from proofroom_apps.website.prefetch import ModuleSource, module_sources

        subscribe_to_posts()
        load_embeds.register(load_delivered)
        module_sources.register(ModuleSource("embeds", "url", load_cards))
