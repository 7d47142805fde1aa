"""Images of each provider over its own protocol, and of the demo."""

from __future__ import annotations

import io
from decimal import Decimal
from typing import Any

import pytest
from PIL import Image

from agents_app.providers.image_generation import make_image
from agents_app.providers.images import SIZES
from agents_app.providers.interface import (
    ANSWER_TOKENS_LIMIT,
    ProviderChoice,
    ProviderError,
    ProviderTimeout,
)
from tests.agents.asking import KEY
from tests.agents.environment import set_env
from tests.agents.talking import choice_of
from tests.fake_provider import Reply, serving

MODELS = {"openai": "gpt-image-2", "google": "gemini-3.1-flash-image"}
each_provider = pytest.mark.parametrize("provider", list(MODELS))
pytestmark = pytest.mark.usefixtures("no_pauses")


def png() -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (16, 16), "teal").save(data, "PNG")
    return data.getvalue()


@pytest.mark.parametrize(
    ("provider", "path", "cost"),
    [
        ("openai", "/v1/images/generations", "0.008"),
        ("google", "/v1beta/models/gemini-3.1-flash-image:generateContent", "0.0065"),
    ],
)
def test_a_picture_is_made_and_priced(provider: str, path: str, cost: str) -> None:
    picture = png()
    with serving(Reply(image=picture)) as fake:
        choice = choice_of(provider, fake, MODELS[provider])
        made = make_image(choice, prompt="A cup of tea", size="1536x1024", seconds=20)

    assert (made.data, made.cost) == (picture, Decimal(cost))
    assert (made.input_tokens, made.output_tokens) == (1000, 100)
    assert fake.asked[0].path == path
    assert "A cup of tea" in fake.said()
    assert KEY not in fake.said() + fake.asked[0].path


@pytest.mark.parametrize(
    ("size", "ratio"), [("1024x1024", "1:1"), ("1536x1024", "3:2"), ("1024x1536", "2:3")]
)
def test_each_size_is_asked_for_in_the_providers_words(size: str, ratio: str) -> None:
    with serving(Reply(image=png())) as fake:
        for provider, model in MODELS.items():
            make_image(choice_of(provider, fake, model), prompt="Tea", size=size, seconds=20)

    first, second = (asked.body for asked in fake.asked)
    assert (first["size"], first["quality"]) == (size, "medium")
    assert second["generationConfig"]["imageConfig"]["aspectRatio"] == ratio
    assert size in SIZES


@each_provider
def test_a_picture_whose_tokens_are_not_said_costs_by_its_size(provider: str) -> None:
    with serving(Reply(image=png(), usage=None)) as fake:
        choice = choice_of(provider, fake, MODELS[provider])
        made = make_image(choice, prompt="Tea", seconds=20)
    cost = {"openai": "0.053", "google": "0.067"}[provider]
    assert (made.cost, made.output_tokens) == (Decimal(cost), 0)


@each_provider
def test_tokens_that_no_model_takes_are_not_believed(provider: str) -> None:
    with serving(Reply(image=png(), usage=(10**18, 10**18))) as fake:
        made = make_image(choice_of(provider, fake, MODELS[provider]), prompt="Tea", seconds=20)

    assert (made.input_tokens, made.output_tokens) == (ANSWER_TOKENS_LIMIT, ANSWER_TOKENS_LIMIT)


@each_provider
@pytest.mark.parametrize(
    ("reply", "sentence", "asked", "worked"),
    [
        (Reply(status=401, message=KEY), "refused the API key (401)", 1, False),
        (Reply(status=429), "too many requests", 3, False),
        (Reply(status=429, retry_after="3600"), "It asks to wait 3600 seconds", 1, False),
        (Reply(status=503), "failed (503)", 3, False),
        (Reply(dropped=True), "broke off before its end", 1, True),
        (Reply(raw="<html>"), "answered with something that cannot be read", 1, True),
        (Reply(image=b""), "generated no image", 1, True),
    ],
    ids=["key", "busy", "wait", "down", "dropped", "html", "none"],
)
def test_errors_are_reported_in_a_sentence(
    provider: str, reply: Reply, sentence: str, asked: int, worked: bool
) -> None:
    with serving(reply) as fake, pytest.raises(ProviderError) as caught:
        make_image(choice_of(provider, fake, MODELS[provider]), prompt="Tea", seconds=20)

    assert str(caught.value).startswith((provider, f"The answer of {provider}"))
    assert sentence in str(caught.value)
    assert KEY not in str(caught.value)
    assert (len(fake.asked), caught.value.worked) == (asked, worked), "a picture is not paid twice"


def test_a_filtered_picture_is_reported() -> None:
    with (
        serving(Reply(image=b"", finish="IMAGE_SAFETY")) as fake,
        pytest.raises(ProviderError) as caught,
    ):
        make_image(choice_of("google", fake, MODELS["google"]), prompt="Tea", seconds=20)
    assert "content filter" in str(caught.value)


@each_provider
def test_a_provider_that_is_too_slow(provider: str) -> None:
    with serving(Reply(image=png(), delay=3)) as fake, pytest.raises(ProviderTimeout):
        make_image(choice_of(provider, fake, MODELS[provider]), prompt="Tea", seconds=0.3)


def test_a_picture_that_is_too_large_is_refused(settings: Any) -> None:
    set_env(settings, media_max_bytes=50)
    with serving(Reply(image=png())) as fake, pytest.raises(ProviderError) as caught:
        make_image(choice_of("openai", fake, MODELS["openai"]), prompt="Tea", seconds=20)
    assert "MEDIA_MAX_BYTES" in str(caught.value)
    assert caught.value.worked


def test_an_unknown_size_asks_nobody() -> None:
    with serving(Reply(image=png())) as fake, pytest.raises(ProviderError, match="no size '9x9'"):
        make_image(
            choice_of("openai", fake, MODELS["openai"]), prompt="Tea", size="9x9", seconds=20
        )
    assert fake.asked == []


def test_the_demo_draws_for_nothing() -> None:
    made = make_image(ProviderChoice("demo", "demo"), prompt="Tea", size="1024x1536", seconds=20)
    assert (Image.open(io.BytesIO(made.data)).size, made.cost) == ((1024, 1536), Decimal(0))
