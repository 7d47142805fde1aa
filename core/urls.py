"""Addresses of the system."""

from django.urls import path

from core.live.views import websockets

urlpatterns = [path("ws/", websockets, name="websockets")]
