"""Prices of requests in US dollars, from the dated file `prices.yaml`."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import ROUND_UP, Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Final, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from agents_app.providers.interface import DEMO_PROVIDER, ProviderChoice

_FREE: Final = (DEMO_PROVIDER, "ollama")
_PLACES: Final = Decimal("0.000001")
# Providers accept dated aliases of a model, which have the price of the model.
_DATED: Final = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
Dollars = Annotated[Decimal, BeforeValidator(str), Field(ge=0)]
_Price = TypeVar("_Price")


class _StrictPrices(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Rates(_StrictPrices):
    """US dollars per million tokens."""

    in_: Dollars = Field(alias="in")
    out: Dollars
    cached: Dollars | None = None
    written: Dollars | None = None


class _LongRates(_Rates):
    over: int


class _LaterRates(_Rates):
    from_: date = Field(alias="from")


class TextPrice(_Rates):
    """The price of text."""

    long: _LongRates | None = None
    next: _LaterRates | None = None

    def rates(self, input_tokens: int, day: date) -> _Rates:
        """Return the rates of a request with so many input tokens on that day."""
        if self.next is not None and day >= self.next.from_:
            return self.next
        if self.long is not None and input_tokens > self.long.over:
            return self.long
        return self


class ImagePrice(_StrictPrices):
    """The price of images: by tokens, and by size."""

    in_: Dollars = Field(alias="in")
    out: Dollars
    sizes: dict[str, Dollars]


class PriceList(_StrictPrices):
    """The whole file."""

    date: date
    source: str
    text: dict[str, dict[str, TextPrice]]
    images: dict[str, dict[str, ImagePrice]]


@cache
def price_list() -> PriceList:
    """Return the price list, read once per process."""
    text = (Path(__file__).parent / "prices.yaml").read_text(encoding="utf-8")
    return PriceList.model_validate(yaml.safe_load(text))


def cost_of(
    choice: ProviderChoice,
    input_tokens: int,
    output_tokens: int,
    *,
    cached_tokens: int = 0,
    written_tokens: int = 0,
) -> Decimal | None:
    """Return the cost of one request in US dollars; None if the model's price is unknown.

    `cached_tokens` and `written_tokens`: parts of the input read from and written to the provider's
    cache.
    """
    if choice.provider in _FREE:
        return Decimal(0)
    price = _of_model(price_list().text.get(choice.provider, {}), choice.model)
    if price is None:
        return None
    rates = price.rates(input_tokens, today())
    cached = min(max(cached_tokens, 0), input_tokens)
    written = min(max(written_tokens, 0), input_tokens - cached)
    return _dollars(
        (input_tokens - cached - written) * rates.in_
        + cached * (rates.in_ if rates.cached is None else rates.cached)
        + written * (rates.in_ if rates.written is None else rates.written)
        + output_tokens * rates.out
    )


def savings_of(choice: ProviderChoice, input_tokens: int, cached_tokens: int) -> Decimal:
    """Return how many US dollars more a request would have cost without reads from the cache.

    Zero if the model's price is unknown.
    """
    price = _of_model(price_list().text.get(choice.provider, {}), choice.model)
    if price is None or choice.provider in _FREE:
        return Decimal(0)
    rates = price.rates(input_tokens, today())
    discount = rates.in_ - (rates.in_ if rates.cached is None else rates.cached)
    return (min(max(cached_tokens, 0), input_tokens) * discount / 1_000_000).quantize(_PLACES)


def image_cost(
    choice: ProviderChoice, size: str, *, input_tokens: int = 0, output_tokens: int = 0
) -> Decimal | None:
    """Return the cost of one image, by tokens if known, otherwise by size; None if the price is unknown."""
    if choice.provider in _FREE:
        return Decimal(0)
    price = _of_model(price_list().images.get(choice.provider, {}), choice.model)
    if price is None:
        return None
    if output_tokens:
        return _dollars(input_tokens * price.in_ + output_tokens * price.out)
    # An unknown size counts as the most expensive one.
    return price.sizes.get(size, max(price.sizes.values()))


def today() -> date:
    """Return the current day in UTC, whose prices apply."""
    return datetime.now(UTC).date()


def _of_model(prices: dict[str, _Price], model: str) -> _Price | None:
    return prices.get(model) or prices.get(_DATED.sub("", model))


def _dollars(millionths: Decimal) -> Decimal:
    """Return dollars, rounded up: the sum of many small requests must not be too low."""
    return (millionths / 1_000_000).quantize(_PLACES, rounding=ROUND_UP)
