"""Names of models, of their fields and of their choices, said in the reader's language.

Set when the apps are ready instead of written at every field: migrations see what the classes say, and a name
that nobody wrote (made of the field's) is translated like every other.
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

# What readers call a field, where its name is a word of the code.
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


def speak_the_readers_language() -> None:
    """To be called once, when all apps are ready."""
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
                # A function says its labels in the reader's language itself.
                if field.choices and not isinstance(field.choices, CallableChoiceIterator):
                    field.choices = [
                        (value, gettext_lazy(str(label))) for value, label in field.choices
                    ]


def words_of_models() -> Iterator[str]:
    """Yield what of that the admin shows, in English. To be called in English."""
    yield from (str(app.verbose_name) for app in own_apps() if [*app.get_models()])
    for model in filter(admin.site.is_registered, apps.get_models()):
        shown = admin.site.get_model_admin(model)
        yield from (str(model._meta.verbose_name), str(model._meta.verbose_name_plural))
        sheets = [sheet for _, sheet in shown.fieldsets or ()]
        named = [
            *shown.list_display,
            *shown.list_filter,
            *shown.readonly_fields,
            *(shown.fields or ()),
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
    """Those of the product and of the site's project, and not Django's or other libraries'."""
    home = Path(settings.BASE_DIR)
    return [
        app
        for app in apps.get_app_configs()
        if app.name.partition(".")[0] in settings.PRODUCT_PACKAGES
        or Path(app.path).parents[app.name.count(".")] == home
    ]


def _fields(model: type[models.Model]) -> Iterable[models.Field[Any, Any]]:
    return chain(model._meta.local_fields, model._meta.local_many_to_many)
