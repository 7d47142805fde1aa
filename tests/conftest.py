"""The environment of all tests: a temporary data folder, no variables of the machine, no network."""

from __future__ import annotations

import atexit
import gc
import logging.handlers
import os
import shutil
import socket
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import django
import pytest
from hypothesis import settings as hypothesis_settings

# Before anything reads the settings. Only the services' addresses come from outside.
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

# Parallel processes share nothing: each has its own Redis database, like its own PostgreSQL
# database.
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
if os.environ.get("REDIS_URL"):
    _redis, _, _number = os.environ["REDIS_URL"].rpartition("/")
    os.environ["REDIS_URL"] = f"{_redis}/{int(_number) + _worker}"

gc.disable()  # until all is imported
django.setup()
from django.conf import settings as _settings  # noqa: E402  # needs the variables above
from django.db import connections  # noqa: E402
from django.test import Client  # noqa: E402

# Set for the whole session, because accounts are also created when a database is created or
# flushed.
_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
from media.services.variants import wake_renderer as _wake_a_worker  # noqa: E402  # needs the settings
from tests import make  # noqa: E402  # as above
from tests.migrated import migrated_database, migrated_file  # noqa: E402  # as above

# Processes started by tests must not inherit it: they would read the settings too early.
del os.environ["DJANGO_SETTINGS_MODULE"]

# A slow machine is no defect of the code under test.
hypothesis_settings.register_profile("project", deadline=None)
hypothesis_settings.load_profile("project")

RunOnCommit = Callable[[], AbstractContextManager[list[Callable[[], Any]]]]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests that need services if there are none."""
    if all(os.environ.get(name) for name in _SERVICES):
        return
    left_out = [item for item in items if item.get_closest_marker("services")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_collection_finish() -> None:
    """Freeze imported objects: collecting them repeatedly takes a fifth of the time."""
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
def is_browsed(request: pytest.FixtureRequest) -> bool:
    """Return whether browser tests run on SQLite. They need a database file, as the product has.

    With an in-memory database all threads of the server would share one connection and lock each
    other out.
    """
    has_browser = any(item.get_closest_marker("browser") for item in request.session.items)
    return has_browser and connections["default"].vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_keepdb(is_browsed: bool, django_db_keepdb: bool) -> bool:
    """Keep the copied file: without this, Django creates an empty one."""
    return is_browsed or django_db_keepdb


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    is_browsed: bool, django_db_modify_db_settings_parallel_suffix: None
) -> Iterator[None]:
    """Start from a copy of a migrated database. Django then applies migrations that are missing."""
    connection = connections["default"]
    settings = connection.settings_dict["TEST"]
    if connection.vendor == "postgresql":
        settings["TEMPLATE"] = migrated_database(os.environ["DATABASE_URL"])
        yield
    elif is_browsed:
        settings["NAME"] = shutil.copyfile(
            migrated_file(), os.path.join(_data_dir, "tests.sqlite3")
        )
        yield
    else:
        # An in-memory database exists as long as one connection to it is open.
        settings["NAME"] = f"file:memorydb_{connection.alias}?mode=memory&cache=shared"
        with closing(sqlite3.connect(settings["NAME"], uri=True)) as copy:
            with closing(sqlite3.connect(migrated_file())) as migrated:
                migrated.backup(copy)
            yield


@pytest.fixture(autouse=True, scope="session")
def no_network() -> Iterator[None]:
    """Allow connections only to this machine and to the configured services."""
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
    """Provide an own media folder, an empty cache, and tasks that run immediately."""
    from django.core.cache import cache

    from agents_app.runs import ownership
    from cms_project.celery import app
    from media.render_variants import make_variants
    from proofroom.core.caching import redis_cache
    from proofroom.core.caching.answer_cache import answers
    from proofroom.core.caching.content_memo import content_memo
    from proofroom.core.caching.content_version_cache import lease
    from proofroom.core.caching.shared_answers import shared_answers
    from proofroom.core.database_notifications import stop_listening
    from proofroom.core.outbox.wake_ups import gathered_wake_ups
    from proofroom.core.task_queue import QueueWatch
    from proofroom_apps.website.page_frame import frames
    from seo import middleware

    settings.MEDIA_ROOT = tmp_path / "media"
    # Look up static files on request, instead of scanning them for every test client.
    settings.WHITENOISE_AUTOREFRESH = True
    # The heartbeat's connection cannot see a run in a test's transaction, and would report it lost.
    monkeypatch.setattr(ownership, "BEAT_SECONDS", 600.0)
    # Neither can the thread that writes hits with a delay.
    monkeypatch.setattr(middleware, "WRITE_SECONDS", 0.0)
    # Most tests need variants immediately; `variants_later` leaves them to the worker.
    monkeypatch.setattr("media.services.variants.wake_renderer", make_variants)
    monkeypatch.setattr(redis_cache, "_failed_at", None)
    # Disables answers shared between processes, except in tests of that feature.
    monkeypatch.setattr(shared_answers, "_paused_until", float("inf"))
    # Failures stored by earlier processes or tests must not be visible.
    monkeypatch.setattr("proofroom.core.task_queue.queue_watch", QueueWatch(is_known=True))
    # Run tasks where they are queued, also in tests that import the web server's modules.
    monkeypatch.setattr(gathered_wake_ups, "is_on", False)
    monkeypatch.setattr(gathered_wake_ups, "turn_on", lambda: None)
    before = app.conf.task_always_eager, app.conf.task_eager_propagates
    app.conf.task_always_eager = app.conf.task_eager_propagates = True
    cache.clear()
    answers.clear()
    content_memo.clear()
    frames.clear()
    lease.forget()
    yield
    # An open connection would prevent the test database from being dropped.
    stop_listening()
    app.conf.task_always_eager, app.conf.task_eager_propagates = before


@pytest.fixture
def variants_later(fresh_surroundings: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Create variants after the commit in a worker, as outside of tests."""
    monkeypatch.setattr("media.services.variants.wake_renderer", _wake_a_worker)


@pytest.fixture
def quick_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace management commands by an echo of their arguments, because real ones take seconds to start."""
    monkeypatch.setattr(
        "proofroom.core.diagnostics.command_runner.program", lambda: ("/bin/echo", "ran")
    )


@pytest.fixture
def run_on_commit(django_capture_on_commit_callbacks: Any) -> RunOnCommit:
    """`with run_on_commit():` runs the block's on-commit callbacks at its end."""

    def block() -> AbstractContextManager[list[Callable[[], Any]]]:
        captured: AbstractContextManager[list[Callable[[], Any]]] = (
            django_capture_on_commit_callbacks(execute=True)
        )
        return captured

    return block


def pytest_sessionstart() -> None:
    """Remove the handlers of the terminal and the log file. Tests of logs use `caplog`."""
    root = logging.getLogger()
    for handler in list(root.handlers):
        if type(handler) is logging.StreamHandler or isinstance(handler, logging.FileHandler):
            root.removeHandler(handler)


@pytest.fixture
def one_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put all calls of a test into one rate limit window."""
    monkeypatch.setattr("proofroom.core.caching.rate_limits.time.time", lambda: 1_900_000_010.0)


@pytest.fixture
def quick_polls(settings: Any) -> None:
    """Look for live events every hundredth of a second."""
    settings.LIVE_POLL_SECONDS = 0.01


@pytest.fixture
def signed_in() -> Callable[..., Client]:
    """`signed_in(role)`: a client logged in with that role, by default as editor."""

    def client(role: str = "editor") -> Client:
        browser = Client()
        browser.force_login(make.user(role))
        return browser

    return client
