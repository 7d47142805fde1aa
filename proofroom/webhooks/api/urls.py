"""URLs of webhooks under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

DeliveryViewSet = LazyViewSet("proofroom.webhooks.api.deliveries.DeliveryViewSet")
WebhookViewSet = LazyViewSet("proofroom.webhooks.api.webhooks.WebhookViewSet")
WorkflowViewSet = LazyViewSet("proofroom.webhooks.api.workflows.WorkflowViewSet")

urlpatterns = [
    path("webhooks", WebhookViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "webhooks/<str:webhook_id>",
        WebhookViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
    ),
    path("webhooks/<str:webhook_id>/test", WebhookViewSet.as_view({"post": "test"})),
    path("webhooks/<str:webhook_id>/replay", WebhookViewSet.as_view({"post": "replay"})),
    path(
        "webhooks/<str:webhook_id>/replay/cancel",
        WebhookViewSet.as_view({"post": "cancel_replay"}),
    ),
    path("webhook-deliveries", DeliveryViewSet.as_view({"get": "list"})),
    path("webhook-deliveries/<str:delivery_id>", DeliveryViewSet.as_view({"get": "retrieve"})),
    path(
        "webhook-deliveries/<str:delivery_id>/replay", DeliveryViewSet.as_view({"post": "replay"})
    ),
    path("workflows", WorkflowViewSet.as_view({"get": "list"})),
    path(
        "workflows/<str:workflow_id>",
        WorkflowViewSet.as_view({"get": "retrieve", "patch": "partial_update"}),
    ),
    path("workflows/<str:workflow_id>/test", WorkflowViewSet.as_view({"post": "test"})),
]
