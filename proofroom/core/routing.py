"""Websockets of the system."""

from django.urls import path

from proofroom.core.realtime.event_feed import EventsConsumer

websocket_urlpatterns = [path("ws/events/", EventsConsumer.as_asgi(), name="ws-events")]
