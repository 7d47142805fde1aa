"""Images made by the selected provider or drawn by the demo."""

from __future__ import annotations

from decimal import Decimal

from agents_app.providers.connection import RequestFailure
from agents_app.providers.images import SIZES, SQUARE, MadeImage
from agents_app.providers.interface import (
    DEMO_PROVIDER,
    ProviderChoice,
    ProviderError,
    ProviderTimeout,
)


def make_image(
    choice: ProviderChoice, *, prompt: str, size: str = SQUARE, seconds: float
) -> MadeImage:
    """Generate one image from the prompt. Raises `ProviderError`."""
    if size not in SIZES:
        raise ProviderError(f"There is no size {size!r}. Available: {', '.join(SIZES)}.")
    if choice.provider == DEMO_PROVIDER:
        # Imported here, because most processes use only one of the two.
        from agents_app.providers.demo.images import draw_placeholder

        return MadeImage(draw_placeholder(prompt, size), Decimal(0))
    if seconds <= 0:
        # No request was sent, so there is nothing to pay for.
        raise RequestFailure(ProviderTimeout("The time of the run is over.")).error
    from agents_app.providers.model_images import ask_for_image

    return ask_for_image(choice, prompt=prompt, size=size, seconds=seconds)
