"""The sample form."""

from __future__ import annotations

from typing import Any

import pytest

from forms.models import FormDefinition
from forms.sample import seed
from tests import make

pytestmark = pytest.mark.django_db


def test_the_sample_form_is_made_once_in_both_languages() -> None:
    seed(actor=make.actor("editor"))
    FormDefinition.objects.filter(locale="de").update(title="Own words")
    seed(actor=make.actor("editor"))

    forms = list(FormDefinition.objects.order_by("locale"))
    assert [(form.slug, form.locale, form.title, form.version) for form in forms] == [
        ("contact", "de", "Own words", 1),
        ("contact", "en", "Write to us", 1),
    ]
    for form in forms:
        assert [(row["name"], row["type"], row["required"]) for row in form.fields] == [
            ("name", "text", True),
            ("email", "email", True),
            ("message", "textarea", True),
        ]


def test_languages_that_the_site_does_not_have_are_left_out(settings: Any) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"locales": ("en",)})

    seed(actor=make.actor("editor"))

    assert list(FormDefinition.objects.values_list("locale", flat=True)) == ["en"]
