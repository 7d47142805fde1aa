"""The fast renderer negotiation gives the same result as DRF's."""

from __future__ import annotations

import pytest
from rest_framework.exceptions import NotAcceptable
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer, JSONRenderer, StaticHTMLRenderer
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from proofroom.core.api.negotiation import ContentNegotiation

ACCEPTED = [
    None,
    "*/*",
    "application/json",
    "application/*",
    "application/json; indent=4",
    "application/json, text/plain, */*",
    "text/html,application/xhtml+xml,*/*;q=0.8",
    "text/html",
    "image/png",
    "",
]


def _choice(
    negotiation: DefaultContentNegotiation, accepted: str | None, renderers: list[BaseRenderer]
) -> object:
    headers = {} if accepted is None else {"accept": accepted}
    request = Request(APIRequestFactory().get("/", headers=headers))
    try:
        return negotiation.select_renderer(request, renderers)
    except NotAcceptable:
        return None


@pytest.mark.parametrize("accepted", ACCEPTED)
@pytest.mark.parametrize(
    "renderers", [[JSONRenderer()], [JSONRenderer(), StaticHTMLRenderer()], [StaticHTMLRenderer()]]
)
def test_it_chooses_as_drf_does(accepted: str | None, renderers: list[BaseRenderer]) -> None:
    ours = _choice(ContentNegotiation(), accepted, renderers)

    assert ours == _choice(DefaultContentNegotiation(), accepted, renderers)


@pytest.mark.parametrize("accepted", [None, "*/*", "application/json"])
def test_what_nearly_every_caller_sends_is_not_parsed(
    accepted: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(DefaultContentNegotiation, "select_renderer")
    renderer = JSONRenderer()

    assert _choice(ContentNegotiation(), accepted, [renderer]) == (renderer, "application/json")
