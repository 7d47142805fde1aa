"""Registers the app with Django, whose admin finds `admin.py`."""

from django.apps import AppConfig


class EditorialConfig(AppConfig):
    name = "proofroom.editorial"
    label = "proofroom_editorial"
    verbose_name = "Editorial"
