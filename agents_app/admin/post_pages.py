"""Agents on the pages of a post: the panel, the tab of runs, links beside fields, and an action on several posts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from django.http import HttpRequest
from django.utils.translation import gettext as _

from agents_app.admin import batches
from agents_app.admin.run_dialog import field_run, post_panel
from agents_app.admin.runs.causes_page import causes_url
from content.models import Post
from proofroom.core.admin.permissions import may
from proofroom_apps.editorial.posts.extensions import (
    FieldActions,
    ListAction,
    PostPagesExtension,
    PostPanel,
    PostTab,
    RunView,
    post_pages_extensions,
)


class AgentsOnPostPages(PostPagesExtension):
    def panels(self, request: HttpRequest, post: Post) -> Iterable[PostPanel]:
        return (post_panel.agent_panel(request, post),)

    def tabs(self, request: HttpRequest, post: Post) -> Iterable[PostTab]:
        return post_panel.agent_tabs(request, post)

    def history_links(self, request: HttpRequest, post: Post) -> Iterable[PostTab]:
        if may(request, "agents.view"):
            yield PostTab("causes", _("Show causes and effects"), causes_url(post))

    def field_actions(self, request: HttpRequest, post: Post) -> FieldActions:
        return field_run.field_actions(request, post)

    def list_actions(self) -> Iterable[ListAction]:
        return (batches.RUN_AGENT,)

    def describe_runs(self, request: HttpRequest, ids: Sequence[str]) -> Mapping[str, RunView]:
        return post_panel.describe_runs(request, ids)

    def translation_run_url(self, request: HttpRequest, post: Post) -> str:
        return post_panel.translation_run_url(request, post)


post_pages_extensions.register(AgentsOnPostPages(), name="agents", order=2)
