"""Costs of requests, from one dated file."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from agents_app.providers import prices
from agents_app.providers.interface import ProviderChoice
from agents_app.providers.prices import cost_of, image_cost, price_list
from agents_app.providers.selection import DEFAULT_MEDIA_MODELS, DEFAULT_MODELS

TERRA = ProviderChoice("openai", "gpt-6.1-terra")
MILLION = 1_000_000


def test_every_default_model_has_a_price() -> None:
    assert [
        provider
        for provider, model in DEFAULT_MODELS.items()
        if cost_of(ProviderChoice(provider, model), 1000, 1000) is None
    ] == []
    assert [
        provider
        for provider, model in DEFAULT_MEDIA_MODELS.items()
        if image_cost(ProviderChoice(provider, model), "1024x1024") is None
    ] == []


def test_the_file_says_its_day_and_where_it_comes_from() -> None:
    assert price_list().date == date(2026, 11, 22)
    assert price_list().source


@pytest.mark.parametrize(
    ("tokens", "kept", "cost"),
    [
        ((1000, 100), {}, "0.0015"),
        ((1000, 0), {"cached_tokens": 1000}, "0.00005"),
        ((1000, 0), {"cached_tokens": 600, "written_tokens": 400}, "0.00053"),
        ((1000, 0), {"cached_tokens": 5000}, "0.00005"),
        ((272_000, 0), {}, "0.272"),
        ((272_001, 0), {}, "0.544002"),
        ((1, 0), {}, "0.000001"),
        ((0, 0), {}, "0"),
    ],
)
def test_a_request_costs_its_tokens(
    tokens: tuple[int, int], kept: dict[str, int], cost: str
) -> None:
    assert cost_of(TERRA, *tokens, **kept) == Decimal(cost)


@pytest.mark.parametrize("suffix", ["-2026-10-01", "-20261001", "-latest"])
def test_a_dated_name_is_the_model_of_that_name(suffix: str) -> None:
    assert cost_of(ProviderChoice("openai", f"gpt-6.1-terra{suffix}"), 1000, 100) == Decimal(
        "0.0015"
    )


@pytest.mark.parametrize("model", ["gpt-6.1-terra-pro", "gpt-99", ""])
def test_nobody_knows_the_price_of_an_unknown_model(model: str) -> None:
    assert cost_of(ProviderChoice("openai", model), 1000, 100) is None
    assert image_cost(ProviderChoice("openai", model), "1024x1024") is None


def test_a_price_that_is_known_to_change_changes_on_its_day(monkeypatch: Any) -> None:
    flash = ProviderChoice("google", "gemini-3.8-flash")
    costs = []
    for day in (date(2026, 12, 31), date(2027, 1, 1)):
        monkeypatch.setattr(prices, "today", lambda day=day: day)
        costs.append(cost_of(flash, MILLION, 0))
    assert costs == [Decimal("0.75"), Decimal("1.5")]


def test_the_demo_and_ollama_cost_nothing() -> None:
    assert cost_of(ProviderChoice("demo", "demo"), 1000, 100) == 0
    assert cost_of(ProviderChoice("ollama", "anything"), 1000, 100) == 0
    assert image_cost(ProviderChoice("demo", "demo"), "1024x1024") == 0


def test_an_image_costs_its_tokens_or_else_its_size() -> None:
    choice = ProviderChoice("openai", "gpt-image-2")
    assert image_cost(choice, "1536x1024") == Decimal("0.041")
    assert image_cost(choice, "9x9") == Decimal("0.053"), "the dearest, where the size is unknown"
    tokens = {"input_tokens": 1000, "output_tokens": 100}
    assert image_cost(choice, "1536x1024", **tokens) == Decimal("0.008")
