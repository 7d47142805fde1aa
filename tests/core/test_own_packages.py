"""A site whose package has the name of one of the product's gets an error message."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import grimp
import pytest
from django.conf import settings

from cms_project.own_packages import OWN_PACKAGES, ROOT
from tests.commands import run_command


def start(first: Path, statement: str) -> subprocess.CompletedProcess[str]:
    """Start Django with a folder before the product's in the import path."""
    program = f"import sys; sys.path[:0] = [{str(first)!r}, {str(ROOT)!r}]; {statement}"
    return run_command([sys.executable, "-c", program], cwd=first)


@pytest.mark.parametrize("name", OWN_PACKAGES)
def test_a_package_that_hides_one_of_the_product_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()

    ended = start(tmp_path, "import cms_project.settings")

    assert ended.returncode == 1
    assert ended.stderr.strip().splitlines()[-1] == (
        "django.core.exceptions.ImproperlyConfigured: "
        f"The package {name!r} at {tmp_path / name} hides the product's package at {ROOT / name}. "
        "Rename it."
    )


def test_the_list_names_every_package_of_the_product() -> None:
    found = {path.parent.name for path in ROOT.glob("*/__init__.py")}

    assert found - {"benchmarks", "cms_project", "tests"} == set(OWN_PACKAGES)


def test_no_file_imports_itself_by_way_of_others() -> None:
    project = tomllib.loads(Path(settings.BASE_DIR, "pyproject.toml").read_text())
    packages = project["tool"]["importlinter"]["root_packages"]
    graph = grimp.build_graph(*packages, exclude_type_checking_imports=True, cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        pytest.fail("These files import each other: " + " <- ".join(error.args[1]))


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
    done = run_command(
        [sys.executable, "-c", code],
        env={**others, "DJANGO_SETTINGS_MODULE": "cms_project.settings", **environ},
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
def test_a_web_process_freezes_its_objects_and_gathers_its_messages_to_workers(entry: str):
    code = (
        f"import gc, {entry}; from proofroom.core.outbox.wake_ups import gathered_wake_ups; "
        "print(gc.isenabled(), gc.get_freeze_count() > 100_000, gathered_wake_ups.is_on)"
    )

    assert answer(code) == "True True True"


def test_other_addresses_and_their_names_are_found_without_the_admin():
    code = (
        "import cms_project.wsgi, sys; from django.urls import resolve, reverse; "
        "reverse('account_login'); reverse('media-file', args=['a.png']); resolve('/api/posts'); "
        "print('agents_app.admin' in sys.modules, end=' '); "
        "print(reverse('admin:content_post_changelist'), 'agents_app.admin' in sys.modules)"
    )

    assert answer(code) == "False /admin/content/post/ True"


@pytest.mark.parametrize("first", ["proofroom.accounts.admin", "proofroom.oauth.admin"])
def test_library_pages_stay_hidden_in_any_import_order(first: str):
    code = (
        f"import django; django.setup(); import {first}; from django.contrib import admin; "
        "print(*sorted({model._meta.app_label for model in admin.site._registry}))"
    )

    assert answer(code) == (
        "agents_app analytics auth content forms mcp_bridge media proofroom_accounts proofroom_briefs "
        "proofroom_core proofroom_disclosure proofroom_feedback proofroom_imports proofroom_menus proofroom_oauth "
        "proofroom_privacy proofroom_releases proofroom_snippets proofroom_taxonomies proofroom_webhooks seo"
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


def test_starting_background_jobs_loads_no_queue():
    code = (
        "import cms_project.wsgi, sys, content.posts.jobs, content.find_replace.runs, "
        "content.inbox.decision_batches, proofroom_apps.imports.runs; print('celery' in sys.modules)"
    )

    assert answer(code) == "False"
