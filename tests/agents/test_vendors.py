"""Each AI provider is one file, from which everything else that names providers follows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import httpx2
import pytest
from django.conf import settings

from agents_app.ai_settings import providers
from agents_app.definitions.schema import Scope
from agents_app.management.commands import new_agent
from agents_app.models import AiSettings
from agents_app.providers.interface import ProviderChoice
from agents_app.providers.llm_config import MediaProvider, TextProvider
from agents_app.providers.vendor import Vendor, access_to
from agents_app.providers.vendors import SHIPPED_VENDORS
from cms_project.env import Environment

each_vendor = pytest.mark.parametrize("vendor", SHIPPED_VENDORS.values(), ids=list(SHIPPED_VENDORS))


def test_every_file_is_a_provider() -> None:
    folder = Path(settings.BASE_DIR, "agents_app", "providers", "vendors")

    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(SHIPPED_VENDORS)
    assert len({vendor.order for vendor in SHIPPED_VENDORS.values()}) == len(SHIPPED_VENDORS)


@each_vendor
def test_everything_that_names_providers_names_it(vendor: Vendor) -> None:
    offered = {(item.kind, item.id): item for item in providers(AiSettings())}

    for kind, model, known in (
        ("text", vendor.text_model, get_args(TextProvider)),
        ("media", vendor.media_model, get_args(MediaProvider)),
    ):
        assert (vendor.id in known) is bool(model)
        assert ((kind, vendor.id) in offered) is bool(model)
        if model:
            row = offered[kind, vendor.id]
            assert (row.default_model, row.source) == (model, vendor.main_variable)
            assert row.name.startswith(vendor.name)
    variables = {name.upper() for name in Environment.model_fields}
    assert {vendor.key_variable, vendor.address_variable} <= variables
    assert vendor.id in new_agent.markdown_of("An agent", [Scope.DROPDOWN])


def test_the_documentation_lists_them_in_the_order_in_which_they_answer() -> None:
    text = Path(settings.BASE_DIR, "docs", "reference", "agents.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)`.*\| (`AI_PROVIDER_.*) \|$", text, re.MULTILINE)

    assert [name for name, _ in rows] == list(SHIPPED_VENDORS)
    for name, variables in rows:
        vendor = SHIPPED_VENDORS[name]
        assert {vendor.key_variable, vendor.address_variable} == set(
            re.findall(r"\w{2,}", variables)
        )


@each_vendor
def test_it_makes_the_models_that_it_names(vendor: Vendor) -> None:
    choice = ProviderChoice(vendor.id, "some-model", "key", "http://127.0.0.1:1/v1")
    access = access_to(vendor, choice, httpx2.AsyncClient(timeout=60))

    assert vendor.make_text_model("some-model", access).model_name == "some-model"
    if vendor.media_model:
        assert vendor.make_image_model("some-model", access).model_name == "some-model"
