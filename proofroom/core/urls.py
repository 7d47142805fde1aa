"""Addresses of the system."""

from django.urls import path

from proofroom.core.realtime.views import websockets

urlpatterns = [path("ws/", websockets, name="websockets")]
