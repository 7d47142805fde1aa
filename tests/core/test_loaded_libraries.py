"""Libraries loaded by a process at its start, because each uses memory for its whole life."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

import pytest
from django.conf import settings

SDKS: Final = {"pydantic_ai", "openai", "anthropic", "google.genai", "genai_prices", "boto3"}
OPERATIONS: Final = {"sentry_sdk", "opentelemetry.sdk", "prometheus_client"}
"""Libraries enabled by a variable."""
WEB: Final = {
    "PIL", "nh3", "mcp", "celery", "kombu", "amqp", "pytest", "markdown_it", "requests",

}  # fmt: skip
ADMIN: Final = {
    "agents_app.admin", "analytics.admin", "media.admin", "proofroom.accounts.admin",
    "proofroom_apps.editorial.post_admin", "proofroom_apps.imports.admin",
    "allauth.account.views", "allauth.mfa.webauthn.views", "fido2",
}  # fmt: skip
"""Pages of the admin, loaded with its first request."""
API: Final = {
    "agents_app.api.agents", "content.api.posts", "proofroom.core.api.views", "rest_framework.serializers",
    "drf_spectacular.openapi", "django.test", "markdown", "pygments",
}  # fmt: skip
"""Views of the API and their imports, loaded with the first request."""
STARTS: Final = {
    "web": (
        "import cms_project.wsgi",
        {*WEB, *ADMIN, *API, *SDKS, *OPERATIONS, "redis", "uvicorn", "channels"},
    ),
    "sockets": ("import cms_project.asgi", {*WEB, *ADMIN, *API, *SDKS, *OPERATIONS, "redis"}),
    "worker": (
        "from cms_project import celery_app; celery_app.loader.import_default_modules()",
        {*SDKS, *OPERATIONS, "redis", "mcp", "channels"},
    ),
    "mcp": (
        "import django; django.setup(); import mcp_bridge.management.commands.run_mcp",
        {*ADMIN, *SDKS, *OPERATIONS, "redis", "PIL", "nh3", "channels", "celery.worker.consumer"},
    ),
}


def answer(code: str, **environ: str) -> str:
    """Return the output of a process that runs this code with the embedded default's settings."""
    others = {k: v for k, v in os.environ.items() if k not in ("DATABASE_URL", "REDIS_URL")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=settings.BASE_DIR,
        env={**others, "DJANGO_SETTINGS_MODULE": "cms_project.settings", **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("process", STARTS)
def test_a_process_loads_no_library_that_it_may_never_use(process: str):
    load, unwanted = STARTS[process]

    found = answer(f"{load}; import sys; print(*sorted({unwanted} & set(sys.modules)))")

    assert found == ""


def test_the_library_of_redis_is_loaded_where_it_is_used():
    code = (
        "import cms_project.wsgi, sys; from django.core.cache import cache; "
        "from proofroom.core.caching.redis_cache import redis_error, count_hit; "
        "print(cache.get('key'), count_hit('key', 60), redis_error().__module__)"
    )

    printed = answer(code, REDIS_URL="redis://127.0.0.1:1/0")

    assert printed.splitlines()[-1] == "None 1 redis.exceptions"


@pytest.mark.parametrize("entry", ["cms_project.wsgi", "cms_project.asgi"])
def test_the_collector_passes_over_what_a_web_process_has_loaded(entry: str):
    code = f"import gc, {entry}; print(gc.isenabled(), gc.get_freeze_count() > 100_000)"

    assert answer(code) == "True True"


@pytest.mark.parametrize("entry", ["cms_project.wsgi", "cms_project.asgi"])
def test_a_web_process_gathers_its_messages_to_workers(entry: str):
    code = (
        f"import {entry}; from proofroom.core.outbox.wake_ups import gathered_wake_ups; "
        "print(gathered_wake_ups.is_on)"
    )

    assert answer(code) == "True"


def test_other_addresses_and_their_names_are_found_without_the_admin():
    code = (
        "import cms_project.wsgi, sys; from django.urls import resolve, reverse; "
        "reverse('account_login'); reverse('media-file', args=['a.png']); resolve('/api/posts'); "
        "print('agents_app.admin' in sys.modules, end=' '); "
        "print(reverse('admin:content_post_changelist'), 'agents_app.admin' in sys.modules)"
    )

    assert answer(code) == "False /admin/content/post/ True"


@pytest.mark.parametrize("first", ["proofroom.accounts.admin", "proofroom.oauth.admin"])
def test_pages_of_libraries_stay_away_whichever_module_of_the_admin_comes_first(first: str):
    code = (
        f"import django; django.setup(); import {first}; from django.contrib import admin; "
        "print(*sorted({model._meta.app_label for model in admin.site._registry}))"
    )

    assert answer(code) == (
        "agents_app analytics auth content forms mcp_bridge media proofroom_accounts proofroom_core "
        "proofroom_feedback proofroom_imports proofroom_menus proofroom_oauth proofroom_taxonomies "
        "proofroom_webhooks seo"
    )


def test_the_first_pages_of_the_admin_may_be_asked_for_at_once():
    code = (
        "import cms_project.wsgi; from concurrent.futures import ThreadPoolExecutor; "
        "from importlib import import_module; from django.contrib import admin; "
        "from django.urls import reverse; pool = ThreadPoolExecutor(4); "
        "asked = [pool.submit(reverse, 'admin:index'), "
        "pool.submit(import_module, 'agents_app.admin'), "
        "pool.submit(import_module, 'proofroom.accounts.admin'), "
        "pool.submit(lambda: len(admin.site._registry))]; "
        "print(asked[0].result(50), asked[3].result() == len(admin.site._registry) > 20)"
    )

    assert answer(code) == "/admin/ True"


def test_the_first_views_of_the_api_may_be_asked_for_at_once():
    code = """if True:
        import cms_project.wsgi
        from concurrent.futures import ThreadPoolExecutor
        from django.urls import resolve

        paths = ["posts", "agents", "media", "webhooks", "forms-definitions", "redirects", "users", "menus"]
        views = [resolve(f"/api/{path}").func for path in paths]
        found = list(ThreadPoolExecutor(8).map(lambda view: view.cls.__name__, views, timeout=50))
        print(*found)
        """

    assert answer(code) == (
        "PostViewSet AgentViewSet AssetViewSet WebhookViewSet FormDefinitionViewSet RedirectViewSet "
        "UserViewSet MenusViewSet"
    )


def test_the_first_message_loads_the_queue_and_not_the_admin():
    code = (
        "import cms_project.wsgi, sys; from proofroom.core.task_queue import queue_task; "
        "from celery import Task; Task.delay = lambda task, *arguments: print(task.name, arguments); "
        "queue_task('core.tasks.dispatch_event', 7); print('agents_app.admin' in sys.modules)"
    )

    assert answer(code) == "core.tasks.dispatch_event (7,)\nFalse"


def test_a_task_that_is_called_before_the_application_is_loaded_goes_to_the_queue_of_the_project():
    code = """if True:
        import cms_project.wsgi
        from celery import shared_task

        def call(): pass

        task = shared_task(name="site.tasks.call")(call)
        first = task.app
        print(first.main, first.conf.broker_url, sorted(first.amqp.queues))
        print(task.app.main, task.app.amqp.queues["agents"].exchange.name)
        """

    assert answer(code).splitlines() == [
        "default filesystem://localhost ['agents', 'celery', 'deliveries']",
        "cms celery",
    ]


def test_whoever_starts_background_jobs_loads_no_queue():
    code = (
        "import cms_project.wsgi, sys, content.posts.jobs, content.find_replace.runs, "
        "content.inbox.decision_batches, proofroom_apps.imports.runs; print('celery' in sys.modules)"
    )

    assert answer(code) == "False"
