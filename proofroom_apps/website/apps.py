"""Registers the app with Django, so that its templates and words are found."""

from django.apps import AppConfig


class WebsiteConfig(AppConfig):
    name = "proofroom_apps.website"
    label = "proofroom_website"
    verbose_name = "Website"

    def ready(self) -> None:
        from proofroom.core.caching.front_readers import front_readers
        from proofroom_apps.website.front_pages import PageReader, SearchReader

        front_readers.register(PageReader(), name=PageReader.route)
        front_readers.register(SearchReader(), name="search")
