"""Translated names of models, of their fields and of their choices.

They are set when the apps are ready instead of at every field: migrations then contain the plain texts, and names
that Django derives from field names are translated, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final

from django.apps import AppConfig, apps
from django.conf import settings
from django.contrib import admin
from django.db import models
from django.utils.choices import CallableChoiceIterator
from django.utils.translation import gettext_lazy

# Names for readers, for fields whose own name is technical.
_NAMES: Final = {
    "agent_id": "agent",
    "by_name": "started by",
    "connected_at": "connected since",
    "created_at": "created",
    "filename": "file name",
    "form_slug": "form",
    "is_active": "turned on",
    "is_automatic": "created automatically",
    "locale": "language",
    "mime": "file type",
    "updated_at": "changed",
}


def translate_model_names() -> None:
    """Make the names of all models lazily translated. Call it once, when all apps are ready."""
    for app in own_apps():
        app.verbose_name = gettext_lazy(str(app.verbose_name))
        for model in app.get_models():
            options = model._meta
            options.verbose_name = gettext_lazy(str(options.verbose_name))
            options.verbose_name_plural = gettext_lazy(str(options.verbose_name_plural))
            for field in _fields(model):
                name = _NAMES.get(field.name, str(field.verbose_name))
                field.verbose_name = gettext_lazy(name)
                if field.help_text:
                    field.help_text = gettext_lazy(str(field.help_text))
                # Choices from a function are translated by it.
                if field.choices and not isinstance(field.choices, CallableChoiceIterator):
                    field.choices = [
                        (value, gettext_lazy(str(label))) for value, label in field.choices
                    ]


def words_of_models() -> Iterator[str]:
    """Yield the names that the admin shows. Call it with English active."""
    yield from (str(app.verbose_name) for app in own_apps() if [*app.get_models()])
    for model in filter(admin.site.is_registered, apps.get_models()):
        model_admin = admin.site.get_model_admin(model)
        yield from (str(model._meta.verbose_name), str(model._meta.verbose_name_plural))
        sheets = [sheet for _, sheet in model_admin.fieldsets or ()]
        named = [
            *model_admin.list_display,
            *model_admin.list_filter,
            *model_admin.readonly_fields,
            *(model_admin.fields or ()),
        ]
        names = {
            str(name) for name in [*named, *(name for sheet in sheets for name in sheet["fields"])]
        }
        for field in _fields(model):
            texts = [str(label) for _, label in field.choices or ()]
            if field.name in names:
                texts += [str(field.verbose_name), str(field.help_text)]
            yield from texts


def own_apps() -> list[AppConfig]:
    """Return the apps of the product and of the site's project, without Django's and other libraries'."""
    home = Path(settings.BASE_DIR)
    return [
        app
        for app in apps.get_app_configs()
        if app.name.partition(".")[0] in settings.PRODUCT_PACKAGES
        or Path(app.path).parents[app.name.count(".")] == home
    ]


def _fields(model: type[models.Model]) -> Iterable[models.Field[Any, Any]]:
    return chain(model._meta.local_fields, model._meta.local_many_to_many)
