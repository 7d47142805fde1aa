"""What form an answer has."""

from __future__ import annotations

from collections.abc import Iterable

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class OneAnswer(DefaultContentNegotiation):
    """There is one form, whatever the caller accepts; refusals are JSON.

    A cache on the way keeps answers by address alone: what one caller accepts must not decide for the next.
    """

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, str(first.media_type)
