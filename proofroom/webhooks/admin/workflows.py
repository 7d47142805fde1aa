"""The admin of workflows: list, problems of their files, and runs; and tests of the chat."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.labels import kind_label, public_kind_label, switch_badge
from proofroom.core.admin.permissions import (
    PermittedAdmin,
    actor_of,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.conditions import Condition
from proofroom.webhooks import queries
from proofroom.webhooks.admin.deliveries import badge_of
from proofroom.webhooks.chat import chat_host
from proofroom.webhooks.models import Delivery, WorkflowSwitch
from proofroom.webhooks.services.test_calls import test_chat
from proofroom.webhooks.services.workflows import find_workflow, switch_workflow, test_workflow
from proofroom.webhooks.workflow_definitions import (
    Workflow,
    WorkflowDefinition,
    catalogue,
    load_workflows,
)

PERMISSION = "webhooks.manage"
LIST_PAGE = "admin:proofroom_webhooks_workflowswitch_changelist"
WORKFLOW_PAGE = "admin:proofroom_webhooks_workflowswitch_change"
RUNS_PER_PAGE = 50


@admin.register(WorkflowSwitch)
class WorkflowAdmin(PermittedAdmin[WorkflowSwitch]):
    """The list shows the workflows from files. The rows of the model are only their switches."""

    view_permission = PERMISSION

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        require(request, PERMISSION)
        context = {
            "rows": [row_of(item) for item in load_workflows()],
            "problems": catalogue().problems,
            "chat": chat_host(),
            "chat_events": [kind_label(name) for name in settings.CMS_ENV.chat_events],
        }
        template = "admin/proofroom_webhooks/workflows.html"
        return form_page(request, template, WorkflowSwitch, context, title=_("Workflows"))

    def get_urls(self) -> list[URLPattern]:
        def wrap(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        name = "proofroom_webhooks_workflowswitch"
        extra_urls = [
            path("chat/test/", wrap(try_chat), name="webhooks_chat_test"),
            path("<slug:workflow_id>/change/", wrap(show), name=f"{name}_change"),
            path("<slug:workflow_id>/switch/", wrap(switch), name=f"{name}_switch"),
            path("<slug:workflow_id>/test/", wrap(try_out), name=f"{name}_test"),
        ]
        return extra_urls + [url for url in super().get_urls() if url.name == f"{name}_changelist"]


def row_of(found: Workflow) -> dict[str, Any]:
    """Return the template context of a workflow, for the list and its page."""
    return {
        "workflow": found.definition,
        "triggers": [public_kind_label(name) for name in found.definition.triggers],
        "state": switch_badge(found.is_enabled),
        "last": found.last,
        "badge": badge_of(found.last.status) if found.last else "",
    }


@service_errors_as_http
def show(request: HttpRequest, workflow_id: str) -> HttpResponse:
    """Show a workflow: its file's content and its runs."""
    require(request, PERMISSION)
    definition = find_workflow(workflow_id)
    (found,) = load_workflows([definition])
    runs = Paginator(queries.deliveries(workflow_id=workflow_id), RUNS_PER_PAGE)
    page = runs.get_page(request.GET.get("page"))
    payload = definition.payload
    context = {
        **row_of(found),
        "is_enabled": found.is_enabled,
        "file": catalogue().files[workflow_id].name,
        "limits": filters_in_words(definition),
        "payload": "" if payload is None else json.dumps(payload, indent=2, ensure_ascii=False),
        "runs": [(row, badge_of(row.status)) for row in page],
        "page_obj": page,
    }
    template = "admin/proofroom_webhooks/workflow.html"
    return form_page(request, template, WorkflowSwitch, context, title=definition.name)


def filters_in_words(definition: WorkflowDefinition) -> list[tuple[str, str]]:
    """Return the non-empty filters, with labels."""
    filters = definition.filters
    found = [
        (_("Post types"), ", ".join(filters.types)),
        (_("Languages"), ", ".join(filters.locales)),
        (_("Forms"), ", ".join(filters.form_slugs)),
        (_("Conditions"), "; ".join(condition_in_words(item) for item in filters.conditions)),
    ]
    return [(name, text) for name, text in found if text]


def condition_in_words(condition: Condition) -> str:
    words = condition.operator.replace("_", " ")
    if condition.operator == "exists":
        return f"{condition.field} {'does not exist' if condition.value is False else words}"
    return f"{condition.field} {words} {json.dumps(condition.value, ensure_ascii=False)}"


@require_POST
@service_errors_as_http
def switch(request: HttpRequest, workflow_id: str) -> HttpResponse:
    """Switch a workflow on or off. This overrides its file."""
    require(request, PERMISSION)
    wanted = request.POST.get("enabled")
    if wanted not in ("1", "0"):
        raise Http404(_("Send 1 to turn the workflow on, or 0 to turn it off."))
    definition = switch_workflow(
        workflow_id=workflow_id, enabled=wanted == "1", actor=actor_of(request)
    )
    message = (
        _("Turned on %(name)s.")
        if wanted == "1"
        else _("Turned off %(name)s. Waiting deliveries were cancelled.")
    )
    messages.success(request, message % {"name": definition.name})
    return HttpResponseRedirect(reverse(WORKFLOW_PAGE, args=[workflow_id]))


@require_POST
@service_errors_as_http
def try_out(request: HttpRequest, workflow_id: str) -> HttpResponse:
    """Send a sample to this workflow only, and show its delivery."""
    require(request, PERMISSION)
    return show_test(request, test_workflow(workflow_id=workflow_id, actor=actor_of(request)))


@require_POST
@service_errors_as_http
def try_chat(request: HttpRequest) -> HttpResponse:
    """Send a test notice to the chat."""
    require(request, PERMISSION)
    with service_errors_as_messages(request):
        return show_test(request, test_chat(actor=actor_of(request)))
    return HttpResponseRedirect(reverse(LIST_PAGE))


def show_test(request: HttpRequest, row: Delivery) -> HttpResponse:
    messages.success(request, _("Sending a test."))
    return HttpResponseRedirect(reverse("admin:proofroom_webhooks_delivery_change", args=[row.pk]))
