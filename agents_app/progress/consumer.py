"""The websockets of pages that show a run, or a batch of them."""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import parse_qs

from django.conf import settings
from django.utils.translation import get_supported_language_variant

from agents_app.progress import batches
from agents_app.progress.batches import BatchPage
from agents_app.progress.hub import RunPage, hubs
from core.live.holders import Ticket
from core.live.sockets import PageConsumer


class RunConsumer(PageConsumer[RunPage]):
    """`/ws/runs/<id>/?lang=`: how far the run is, each time that it goes on; closed when it ends."""

    permission: ClassVar[str] = "agents.view"
    hubs = hubs

    def page_of(self, ticket: Ticket) -> RunPage:
        run_id = self.scope["url_route"]["kwargs"]["run_id"]
        return RunPage(ticket, run_id, _language(self.scope["query_string"]))


class BatchConsumer(PageConsumer[BatchPage]):
    """`/ws/batches/<id>/`: each time that something is new of the batch; closed when nothing goes on any more."""

    permission: ClassVar[str] = "agents.view"
    hubs = batches.hubs

    def page_of(self, ticket: Ticket) -> BatchPage:
        return BatchPage(ticket, self.scope["url_route"]["kwargs"]["batch_id"])


def _language(query: bytes) -> str:
    """The language of the page, where there is one of that name."""
    try:
        wanted = parse_qs(query.decode("ascii"), max_num_fields=10).get("lang", [""])[0]
        return get_supported_language_variant(wanted[:20])
    except (LookupError, ValueError):
        return str(settings.LANGUAGE_CODE)
