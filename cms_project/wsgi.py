"""HTTP for production servers with threads."""

import gc

import django

from cms_project.requests import Utf8WSGIHandler
from cms_project.settings_module import choose_settings

# Nothing is garbage during startup. Looking for it would take a sixth of the startup time.
gc.disable()
choose_settings()

django.setup(set_prefix=False)

import cms_project.urls  # noqa: E402, F401  # before the first request, which would wait for them
from agents_app.runs.lifecycle import MAX_WAITING_IN_WEB, limit_waiting  # noqa: E402
from proofroom.core.caching.front_applications import FrontWSGI  # noqa: E402
from proofroom.core.database.postgresql.answer_watch import WEB_LIMITS, answer_watch  # noqa: E402
from proofroom.core.outbox.wake_ups import gathered_wake_ups  # noqa: E402

limit_waiting(MAX_WAITING_IN_WEB)
answer_watch.limits.update(WEB_LIMITS)
gathered_wake_ups.turn_on()
application = FrontWSGI(Utf8WSGIHandler(), is_listening=True)
gc.freeze()  # loaded modules stay until the end, so later collections skip them
gc.enable()
