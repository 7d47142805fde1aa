"""Addresses of agents under `/api/`."""

from __future__ import annotations

from django.urls import path

from agents_app.api.agents import AgentViewSet, TriggerViewSet
from agents_app.api.runs import RunViewSet

urlpatterns = [
    path("agents", AgentViewSet.as_view({"get": "list"})),
    path("agents/<str:agent_id>/run", AgentViewSet.as_view({"post": "run_globally"})),
    path(
        "posts/<str:post_id>/agents/<str:agent_id>/run",
        AgentViewSet.as_view({"post": "run_on_post"}),
    ),
    path("posts/bulk-agents/<str:agent_id>/run", AgentViewSet.as_view({"post": "run_in_bulk"})),
    path("public/agents/<str:agent_id>/run", TriggerViewSet.as_view({"post": "run"})),
    path("agent-runs", RunViewSet.as_view({"get": "list"})),
    path("agent-runs/<str:run_id>", RunViewSet.as_view({"get": "retrieve"})),
    path("agent-runs/<str:run_id>/cancel", RunViewSet.as_view({"post": "cancel"})),
    path("agent-runs/<str:run_id>/revert", RunViewSet.as_view({"post": "revert"})),
]
