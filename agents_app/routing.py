"""WebSocket routes of agents."""

from django.urls import path

from agents_app.consumers import BatchConsumer, RunConsumer

websocket_urlpatterns = [
    path("ws/runs/<uuid:run_id>/", RunConsumer.as_asgi(), name="ws-run"),
    path("ws/batches/<uuid:batch_id>/", BatchConsumer.as_asgi(), name="ws-batch"),
]
