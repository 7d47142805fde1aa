"""URLs of agents under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

AgentViewSet = LazyViewSet("agents_app.api.agents.AgentViewSet")
TriggerViewSet = LazyViewSet("agents_app.api.agents.TriggerViewSet")
AiSettingsViewSet = LazyViewSet("agents_app.api.ai_settings.AiSettingsViewSet")
BatchViewSet = LazyViewSet("agents_app.api.batches.BatchViewSet")
BudgetViewSet = LazyViewSet("agents_app.api.budgets.BudgetViewSet")
DataFlowViewSet = LazyViewSet("agents_app.api.data_flows.DataFlowViewSet")
EstimateViewSet = LazyViewSet("agents_app.api.budgets.EstimateViewSet")
UsageViewSet = LazyViewSet("agents_app.api.budgets.UsageViewSet")
RehearsalViewSet = LazyViewSet("agents_app.api.rehearsals.RehearsalViewSet")
EvaluationViewSet = LazyViewSet("agents_app.api.evaluations.EvaluationViewSet")
QualityViewSet = LazyViewSet("agents_app.api.quality.QualityViewSet")
RunViewSet = LazyViewSet("agents_app.api.runs.RunViewSet")

urlpatterns = [
    path("agents", AgentViewSet.as_view({"get": "list"})),
    path(
        "agents/<str:agent_id>",
        AgentViewSet.as_view({"get": "retrieve", "patch": "partial_update"}),
    ),
    path("agents/<str:agent_id>/run", AgentViewSet.as_view({"post": "run_globally"})),
    path(
        "posts/<str:post_id>/agents/<str:agent_id>/run",
        AgentViewSet.as_view({"post": "run_on_post"}),
    ),
    path("posts/bulk-agents/<str:agent_id>/run", AgentViewSet.as_view({"post": "run_in_bulk"})),
    path(
        "posts/bulk-agents/<str:agent_id>/estimate",
        EstimateViewSet.as_view({"post": "estimate"}),
    ),
    path("ai-settings", AiSettingsViewSet.as_view({"get": "retrieve", "put": "update"})),
    path("settings/data-flows", DataFlowViewSet.as_view({"get": "retrieve"})),
    path("agent-budgets", BudgetViewSet.as_view({"get": "list"})),
    path("agent-budgets/<str:agent_id>", BudgetViewSet.as_view({"put": "update"})),
    path("agent-usage", UsageViewSet.as_view({"get": "list"})),
    path("rehearsals", RehearsalViewSet.as_view({"post": "rehearse"})),
    path("quality", QualityViewSet.as_view({"get": "list"})),
    path("quality/changes", QualityViewSet.as_view({"get": "changes"})),
    path("evaluations", EvaluationViewSet.as_view({"get": "list", "post": "create"})),
    path("evaluations/<str:evaluation_id>", EvaluationViewSet.as_view({"get": "retrieve"})),
    path("evaluations/<str:evaluation_id>/cancel", EvaluationViewSet.as_view({"post": "cancel"})),
    path("public/agents/<str:agent_id>/run", TriggerViewSet.as_view({"post": "run"})),
    path("agent-runs", RunViewSet.as_view({"get": "list"})),
    path("agent-runs/<str:run_id>", RunViewSet.as_view({"get": "retrieve"})),
    path("agent-runs/<str:run_id>/chain", RunViewSet.as_view({"get": "chain"})),
    path("agent-runs/<str:run_id>/reactions", RunViewSet.as_view({"get": "reactions"})),
    path("agent-runs/<str:run_id>/retry", RunViewSet.as_view({"post": "retry"})),
    path("agent-runs/<str:run_id>/candidates", RunViewSet.as_view({"get": "candidates"})),
    path("agent-runs/<str:run_id>/stage", RunViewSet.as_view({"post": "stage"})),
    path("agent-runs/<str:run_id>/transcript", RunViewSet.as_view({"get": "transcript"})),
    path("agent-batches", BatchViewSet.as_view({"get": "list"})),
    path("agent-batches/<str:batch_id>", BatchViewSet.as_view({"get": "retrieve"})),
    path("agent-batches/<str:batch_id>/cancel", BatchViewSet.as_view({"post": "cancel"})),
    path("agent-batches/<str:batch_id>/revert", BatchViewSet.as_view({"post": "revert"})),
    path("agent-runs/<str:run_id>/cancel", RunViewSet.as_view({"post": "cancel"})),
    path("agent-runs/<str:run_id>/revert", RunViewSet.as_view({"post": "revert"})),
]
