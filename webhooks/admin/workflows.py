"""Workflows in the admin: which there are, what is wrong with files, what they sent; and the chat."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from core.admin.forms import form_page
from core.admin.labels import kind_label
from core.admin.rights import (
    PermittedAdmin,
    actor_of,
    answers_refusals,
    refusals_as_messages,
    require,
)
from core.conditions import Condition
from webhooks import queries
from webhooks.admin.deliveries import badge_of
from webhooks.automation.definitions import catalogue
from webhooks.automation.reading import Workflow, workflows
from webhooks.automation.schema import WorkflowDefinition
from webhooks.chat.notices import chat_host
from webhooks.models import Delivery, WorkflowSwitch
from webhooks.services.chat import test_chat
from webhooks.services.workflows import find_workflow, switch_workflow, test_workflow

_PERMISSION = "webhooks.manage"
_LIST = "admin:webhooks_workflowswitch_changelist"
_ONE = "admin:webhooks_workflowswitch_change"
_PER_PAGE = 50


@admin.register(WorkflowSwitch)
class WorkflowAdmin(PermittedAdmin[WorkflowSwitch]):
    """The list is of the files, not of the rows that people's switches leave."""

    view_permission = _PERMISSION

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require(request, _PERMISSION)
        context = {
            "rows": [_row(item) for item in workflows()],
            "problems": catalogue().problems,
            "chat": chat_host(),
            "chat_events": [kind_label(name) for name in settings.CMS_ENV.chat_events],
        }
        template = "admin/webhooks/workflows.html"
        return form_page(request, template, WorkflowSwitch, context, title=_("Workflows"))

    def get_urls(self) -> list[URLPattern]:
        def wrap(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        name = "webhooks_workflowswitch"
        own = [
            path("chat/test/", wrap(try_chat), name="webhooks_chat_test"),
            path("<slug:workflow_id>/change/", wrap(show), name=f"{name}_change"),
            path("<slug:workflow_id>/switch/", wrap(switch), name=f"{name}_switch"),
            path("<slug:workflow_id>/test/", wrap(try_out), name=f"{name}_test"),
        ]
        return own + [url for url in super().get_urls() if url.name == f"{name}_changelist"]


def _row(found: Workflow) -> dict[str, Any]:
    return {
        "workflow": found.definition,
        "triggers": [kind_label(name) for name in found.definition.triggers],
        "state": _state(found.is_enabled),
        "last": found.last,
        "badge": badge_of(found.last.status) if found.last else "",
    }


def _state(is_enabled: bool) -> SafeString:
    look, text = ("succeeded", _("On")) if is_enabled else ("archived", _("Off"))
    return format_html('<span class="badge badge-{}">{}</span>', look, text)


@answers_refusals
def show(request: HttpRequest, workflow_id: str) -> HttpResponse:
    """One workflow: what its file says, and its runs."""
    require(request, _PERMISSION)
    definition = find_workflow(workflow_id)
    (found,) = workflows([definition])
    runs = Paginator(queries.deliveries(workflow_id=workflow_id), _PER_PAGE)
    page = runs.get_page(request.GET.get("page"))
    context = {
        **_row(found),
        "is_enabled": found.is_enabled,
        "file": catalogue().files[workflow_id].name,
        "limits": _limits(definition),
        "payload": _pretty(definition),
        "runs": [(row, badge_of(row.status)) for row in page],
        "page_obj": page,
    }
    template = "admin/webhooks/workflow.html"
    return form_page(request, template, WorkflowSwitch, context, title=definition.name)


def _limits(definition: WorkflowDefinition) -> list[tuple[str, str]]:
    """The filters that there are, in words."""
    filters = definition.filters
    found = [
        (_("Post types"), ", ".join(filters.types)),
        (_("Languages"), ", ".join(filters.locales)),
        (_("Forms"), ", ".join(filters.form_slugs)),
        (_("Conditions"), "; ".join(_said(item) for item in filters.conditions)),
    ]
    return [(name, text) for name, text in found if text]


def _said(condition: Condition) -> str:
    words = condition.operator.replace("_", " ")
    if condition.operator == "exists":
        return f"{condition.field} {'does not exist' if condition.value is False else words}"
    return f"{condition.field} {words} {json.dumps(condition.value, ensure_ascii=False)}"


def _pretty(definition: WorkflowDefinition) -> str:
    if definition.payload is None:
        return ""
    return json.dumps(definition.payload, indent=2, ensure_ascii=False)


@require_POST
@answers_refusals
def switch(request: HttpRequest, workflow_id: str) -> HttpResponse:
    """Switch it on or off, whatever its file says."""
    require(request, _PERMISSION)
    wanted = request.POST.get("enabled")
    if wanted not in ("1", "0"):
        raise Http404(_("A workflow is switched on (1) or off (0)."))
    definition = switch_workflow(
        workflow_id=workflow_id, enabled=wanted == "1", actor=actor_of(request)
    )
    said = (
        _("%(name)s is on.")
        if wanted == "1"
        else _("%(name)s is off. What still waited is cancelled.")
    )
    messages.success(request, said % {"name": definition.name})
    return HttpResponseRedirect(reverse(_ONE, args=[workflow_id]))


@require_POST
@answers_refusals
def try_out(request: HttpRequest, workflow_id: str) -> HttpResponse:
    """Send a sample to this workflow only, and show what becomes of it."""
    require(request, _PERMISSION)
    return _under_way(request, test_workflow(workflow_id=workflow_id, actor=actor_of(request)))


@require_POST
@answers_refusals
def try_chat(request: HttpRequest) -> HttpResponse:
    """Say in the chat that it works."""
    require(request, _PERMISSION)
    with refusals_as_messages(request):
        return _under_way(request, test_chat(actor=actor_of(request)))
    return HttpResponseRedirect(reverse(_LIST))


def _under_way(request: HttpRequest, row: Delivery) -> HttpResponse:
    messages.success(request, _("A test is under way."))
    return HttpResponseRedirect(reverse("admin:webhooks_delivery_change", args=[row.pk]))
