"""What every test runs in: a data folder of its own, no variables of the machine, no way out to the network."""

from __future__ import annotations

import atexit
import gc
import logging.handlers
import os
import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import django
import pytest
from hypothesis import settings as hypothesis_settings

# Before anything reads the settings: only the services' addresses come from outside.
os.environ["DJANGO_SETTINGS_MODULE"] = "cms_project.settings"
_SERVICES = ("DATABASE_URL", "REDIS_URL")
for _name in list(os.environ):
    if _name.startswith(
        ("AI_PROVIDER_", "CMS_", "MCP_", "AGENT_", "THROTTLE_", "MEDIA_", "WORKFLOW_", "CHAT_")
    ):
        del os.environ[_name]
for _name in ("DEBUG", "SITE_URL", "ALLOWED_HOSTS", "LOCALES", "DEFAULT_LOCALE", "PORT"):
    os.environ.pop(_name, None)
_data_dir = tempfile.mkdtemp(prefix="cms-tests-")
atexit.register(shutil.rmtree, _data_dir, ignore_errors=True)
os.environ["CMS_DATA_DIR"] = _data_dir
os.environ["SECRET_KEY"] = "only-for-tests-" + "k" * 50

# The processes of one run share nothing: each has a Redis database of its own, as each has one of PostgreSQL.
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
if os.environ.get("REDIS_URL"):
    _redis, _, _number = os.environ["REDIS_URL"].rpartition("/")
    os.environ["REDIS_URL"] = f"{_redis}/{int(_number) + _worker}"

gc.disable()  # until all is imported
django.setup()
from django.conf import settings as _settings  # noqa: E402  # needs the variables above
from django.db import connections  # noqa: E402

# For good, and not for each test alone: accounts are also made when a database is made or emptied.
_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
from media.services.variants import wake_renderer as _wake_a_worker  # noqa: E402  # needs the settings

# Not for the processes that this one starts: they would read the settings before they get here.
del os.environ["DJANGO_SETTINGS_MODULE"]

# A busy machine is no defect of the code under test.
hypothesis_settings.register_profile("project", deadline=None)
hypothesis_settings.load_profile("project")

RunOnCommit = Callable[[], AbstractContextManager[list[Callable[[], Any]]]]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs services where there are none."""
    if all(os.environ.get(name) for name in _SERVICES):
        return
    left_out = [item for item in items if item.get_closest_marker("services")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """What is imported by now stays: looking through it for garbage again and again takes a fifth of the time."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(50_000, 20, 50)


def _is_near(address: object) -> bool:
    if not isinstance(address, tuple):  # a Unix socket
        return True
    host = str(address[0])
    services = {urlsplit(os.environ.get(name, "")).hostname for name in _SERVICES}
    if host in {"", "localhost", *services}:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    request: pytest.FixtureRequest, django_db_modify_db_settings_parallel_suffix: None
) -> None:
    """A browser's tests have a database in a file, as the product has.

    In memory all threads of the server would share one connection, and lock one another out of its tables.
    """
    told = connections["default"].settings_dict
    is_browsed = any(item.get_closest_marker("browser") for item in request.session.items)
    if is_browsed and told["ENGINE"].endswith("sqlite3"):
        told["TEST"]["NAME"] = os.path.join(_data_dir, "tests.sqlite3")


@pytest.fixture(autouse=True, scope="session")
def no_network() -> Iterator[None]:
    """Connections leave this machine only to the services that the tests were given."""
    patch = pytest.MonkeyPatch()
    for name in ("connect", "connect_ex"):
        original = getattr(socket.socket, name)

        def guarded(self: socket.socket, address: Any, _original: Any = original) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_near(address):
                raise PermissionError(f"tests may not connect to {address!r}")
            return _original(self, address)

        patch.setattr(socket.socket, name, guarded)
    yield
    patch.undo()


@pytest.fixture(autouse=True)
def fresh_surroundings(
    tmp_path: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Own media folder, empty cache, tasks that run where they are called."""
    from django.core.cache import cache

    from agents_app.runs import ownership
    from cms_project.celery import app
    from media.render_variants import make_variants
    from proofroom.core.caching import redis_cache
    from proofroom.core.caching.answer_cache import answers
    from proofroom.core.caching.content_memo import content_memo
    from proofroom.core.caching.hit_batches import hit_batches
    from proofroom.core.caching.shared_answers import shared_answers
    from proofroom.core.caching.version_lease import lease
    from proofroom.core.database_notifications import stop_listening
    from proofroom.core.outbox.wake_ups import gathered_wake_ups
    from proofroom.core.task_queue import QueueWatch
    from proofroom_apps.website.page_frame import frames
    from seo import middleware

    settings.MEDIA_ROOT = tmp_path / "media"
    # Static files are looked for when they are asked for, not by every client that a test makes.
    settings.WHITENOISE_AUTOREFRESH = True
    # A run in a test's transaction is nowhere to the connection of its heartbeat, which would call it lost.
    monkeypatch.setattr(ownership, "BEAT_SECONDS", 600.0)
    # So is it to the thread that writes hits some seconds later.
    monkeypatch.setattr(middleware, "WRITE_SECONDS", 0.0)
    # Most tests want pictures as they are a moment after the upload; `variants_later` has them made by the worker.
    monkeypatch.setattr("media.services.variants.wake_renderer", make_variants)
    monkeypatch.setattr(redis_cache, "_failed_at", None)
    # A process that keeps nothing makes everything itself, but in the tests of what processes share.
    monkeypatch.setattr(shared_answers, "_paused_until", float("inf"))
    # No test asks whether an earlier process left a failure, nor knows those of the test before.
    monkeypatch.setattr("proofroom.core.task_queue.queue_watch", QueueWatch(is_known=True))
    # Tasks are done where they are queued, also in tests that import what a web server imports.
    monkeypatch.setattr(gathered_wake_ups, "is_on", False)
    monkeypatch.setattr(gathered_wake_ups, "turn_on", lambda: None)
    before = app.conf.task_always_eager, app.conf.task_eager_propagates
    app.conf.task_always_eager = app.conf.task_eager_propagates = True
    cache.clear()
    answers.clear()
    content_memo.clear()
    frames.clear()
    hit_batches.clear()
    lease.forget()
    yield
    # Its connection would keep the database of the tests from being dropped.
    stop_listening()
    app.conf.task_always_eager, app.conf.task_eager_propagates = before


@pytest.fixture
def variants_later(fresh_surroundings: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variants wait for the commit and a worker, as they do outside of tests."""
    monkeypatch.setattr("media.services.variants.wake_renderer", _wake_a_worker)


@pytest.fixture
def quick_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Management commands only say what they were called with: the real ones take seconds to start."""
    monkeypatch.setattr(
        "proofroom.core.diagnostics.command_runner.program", lambda: ("/bin/echo", "ran")
    )


@pytest.fixture
def run_on_commit(django_capture_on_commit_callbacks: Any) -> RunOnCommit:
    """`with run_on_commit():` runs at its end what the block left for after the commit."""

    def block() -> AbstractContextManager[list[Callable[[], Any]]]:
        captured: AbstractContextManager[list[Callable[[], Any]]] = (
            django_capture_on_commit_callbacks(execute=True)
        )
        return captured

    return block


def pytest_sessionstart() -> None:
    """Nothing is written to the log file; a test that looks at logs uses `caplog`."""
    root = logging.getLogger()
    for handler in list(root.handlers):
        if isinstance(handler, logging.FileHandler):
            root.removeHandler(handler)


@pytest.fixture
def one_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls of a test fall into one window of their limits, whenever the test runs."""
    monkeypatch.setattr("proofroom.core.caching.rate_limits.time.time", lambda: 1_900_000_010.0)
