"""The page "What leaves the house": the data that goes to AI providers and clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from agents_app.admin.agents.definition_labels import provider_and_model_label
from agents_app.admin.labels import SCOPE_LABELS
from agents_app.data_flows import SentData, data_flows
from agents_app.models import AgentSwitch
from agents_app.runs.labels import tool_label
from content.document.labels import field_label
from forms.masking import labels_of_kinds
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.permissions import actor_of, service_errors_as_http
from proofroom.core.tools.group_labels import tool_group_label

_FIELD_LABELS: Final[Mapping[str, Promise]] = {
    "type": gettext_lazy("Type"),
    "locale": gettext_lazy("Language"),
    "status": gettext_lazy("Status"),
    "customFields": gettext_lazy("Custom fields"),
}


@require_safe
@service_errors_as_http
def show_data_flows(request: HttpRequest) -> HttpResponse:
    """Show what each agent sends to which provider, and what AI clients get."""
    found = data_flows(actor_of(request))
    context: dict[str, Any] = {
        "flows": [
            {
                "agent": flow.agent.definition,
                "is_enabled": flow.agent.is_enabled,
                "text": provider_and_model_label(flow.agent.text),
                "is_demo": flow.agent.text.is_demo,
                "fallback": provider_and_model_label(flow.agent.fallback)
                if flow.agent.fallback
                else "",
                "media": provider_and_model_label(flow.agent.media) if flow.agent.media else "",
                "sent": _rows(flow.text),
                "drawn": _rows(flow.images),
            }
            for flow in found.agents
        ],
        "client_tools": [
            (tool_group_label(group), [tool_label(name) for name in tools])
            for group, tools in found.client_tools.items()
        ],
        "submission_tools": [tool_label(name) for name in found.submission_tools],
        "masked": labels_of_kinds(found.masked),
    }
    template = "admin/agents/data_flows.html"
    return form_page(request, template, AgentSwitch, context, title=_("What leaves the house"))


def _rows(found: Sequence[SentData]) -> list[dict[str, Any]]:
    return [
        {
            "label": one.label,
            "fields": [tool_label(name) for name in one.fields]
            if one.kind == "tools"
            else [_FIELD_LABELS.get(name) or field_label("", name) for name in one.fields],
            "scopes": [SCOPE_LABELS[scope] for scope in one.scopes],
            "masked": labels_of_kinds(one.masked),
        }
        for one in found
    ]
