"""Registers the app with Django, which finds its modules, post types, module groups and taxonomies."""

from django.apps import AppConfig


class StarterConfig(AppConfig):
    name = "proofroom_apps.starter"
    label = "proofroom_starter"
    verbose_name = "Starter"
