"""Registers the app with Django, so that its templates and translations are found."""

from django.apps import AppConfig


class WebsiteConfig(AppConfig):
    name = "proofroom_apps.website"
    label = "proofroom_website"
    verbose_name = "Website"
