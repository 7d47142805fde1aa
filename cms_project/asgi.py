"""HTTP and WebSockets for asynchronous servers. Apps define their WebSockets in `<app>/routing.py`."""

from __future__ import annotations

import gc
from importlib import import_module
from importlib.util import find_spec

import django

from cms_project.requests import Utf8ASGIHandler
from cms_project.settings_module import choose_settings

# Nothing is garbage during startup. Looking for it would take a sixth of the startup time.
gc.disable()
choose_settings()
django.setup(set_prefix=False)
http = Utf8ASGIHandler()

from channels.auth import AuthMiddlewareStack  # noqa: E402  # needs the apps, which the line above loads
from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402
from channels.security.websocket import WebsocketDenier  # noqa: E402
from django.apps import apps  # noqa: E402
from django.urls import re_path  # noqa: E402

from proofroom.core.caching.front_applications import FrontASGI  # noqa: E402
from proofroom.core.database.postgresql.answer_watch import WEB_LIMITS, answer_watch  # noqa: E402
from proofroom.core.outbox.wake_ups import gathered_wake_ups  # noqa: E402
from proofroom.core.realtime.websockets import from_this_site, handle_database_unreachable  # noqa: E402

answer_watch.limits.update(WEB_LIMITS)
gathered_wake_ups.turn_on()
websockets = [
    pattern
    for app in apps.get_app_configs()
    if find_spec(f"{app.name}.routing")
    for pattern in import_module(f"{app.name}.routing").websocket_urlpatterns
]

# Without this, the URLRouter raises an error for an unknown path.
nothing_there = re_path("", WebsocketDenier.as_asgi())

application = ProtocolTypeRouter(
    {
        "http": FrontASGI(http, is_listening=True),
        "websocket": handle_database_unreachable(
            from_this_site(AuthMiddlewareStack(URLRouter([*websockets, nothing_there])))
        ),
    }
)
gc.freeze()  # loaded modules stay until the end, so later collections skip them
gc.enable()
