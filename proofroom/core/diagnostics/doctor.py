"""Checks of everything the project depends on, with advice for each problem."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from filecmp import cmp
from pathlib import Path
from platform import python_version
from typing import Any, Final, Literal
from uuid import uuid4

import psycopg
from django import get_version
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles.finders import get_finders
from django.core.cache import cache
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from proofroom.core.activity.chain import MAX_UNSEALED_AGE, oldest_unsealed_at
from proofroom.core.database.migrate import earlier_version_message
from proofroom.core.database.replica import REPLICA, has_replica
from proofroom.core.diagnostics.availability import MIN_FREE_BYTES, has_room
from proofroom.core.diagnostics.public_site import MIN_SECRET_LENGTH, open_settings, weak_secrets
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.http_client.local_process import own_status
from proofroom.core.lane import ROLE
from proofroom.core.lane.checks import lane_problems
from proofroom.core.models import ContentVersion, Seal
from proofroom.core.observability.background_loop import failed_loops
from proofroom.core.scheduled_tasks import overdue_tasks
from proofroom.core.task_queue import advice_for_imports, known_failures, missing_import, task_app
from proofroom.version import product_version

Level = Literal["ok", "warn", "fail"]
DEMO_PASSWORD = "demo-password"  # noqa: S105  # the password of the demo accounts
WORKERS_ANSWER_WITHIN = (1.0, 1.0, 2.0)  # seconds of each attempt


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check, with advice unless it is "ok". Never contains a secret."""

    level: Level
    subject: str
    found: str
    advice: str = ""


def versions() -> Iterator[CheckResult]:
    found = f"Proofroom {product_version()}, Django {get_version()}, Python {python_version()}"
    yield CheckResult("ok", "version", found)


def database() -> Iterator[CheckResult]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    yield CheckResult("ok", "database", f"{connection.display_name} answers")
    has_sessions = connection.vendor == "postgresql" and settings.CMS_ENV.database_pool
    if has_sessions and _is_session_shared():
        yield CheckResult(
            "fail",
            "database pooler",
            "a pooler in transaction mode stands before the database: prepared statements fail",
            "set DATABASE_POOL=0, or the pooler to session mode",
        )


def _is_session_shared() -> bool:
    """Return whether a transaction can take over another connection's session, as behind a pooler in transaction
    mode.
    """
    # Without prepared statements, which fail behind such a pooler.
    options = {**connection.get_connection_params(), "prepare_threshold": None}
    with (
        psycopg.connect(**options, autocommit=True) as idle,
        psycopg.connect(**options) as busy,
    ):
        before = _session_id(idle)
        _session_id(busy)
        return _session_id(idle) != before


def _session_id(asked: psycopg.Connection[Any]) -> int:
    [(process,)] = asked.execute("SELECT pg_backend_pid()").fetchall()
    return int(process)


def replica() -> Iterator[CheckResult]:
    """Yield how many live changes the replica lags behind."""
    if not has_replica():
        return
    versions = [
        ContentVersion.objects.using(alias).filter(pk=1).values_list("number", flat=True).first()
        for alias in (DEFAULT_DB_ALIAS, REPLICA)
    ]
    behind = (versions[0] or 0) - (versions[1] or 0)
    if behind > 0:
        found = f"{behind} changes of live content behind"
        yield CheckResult("warn", "replica", found, "look at pg_stat_replication on the database")
    elif not _is_standby(connections[REPLICA]):
        found = "answers, and is no standby: it may be the database itself"
        advice = "name a standby in DATABASE_REPLICA_URL, unless this one is replicated logically"
        yield CheckResult("warn", "replica", found, advice)
    else:
        yield CheckResult("ok", "replica", "answers, and has every change of live content")


def _is_standby(connection: BaseDatabaseWrapper) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_is_in_recovery()")
        return bool(cursor.fetchone()[0])


def lane() -> Iterator[CheckResult]:
    """Yield whether agents and AI clients have a database role of their own, and whether it is complete."""
    if connection.vendor != "postgresql":
        return
    if not settings.CMS_ENV.lane_database_url:
        found = "not used; LANE_DATABASE_URL gives agents and AI clients one that cannot publish"
        yield CheckResult("ok", "role of agents", found)
        return
    problems = list(lane_problems())
    for found, advice in problems:
        yield CheckResult("fail", "role of agents", found, advice)
    if not problems:
        yield CheckResult("ok", "role of agents", f"{ROLE} has the declared rights and no others")


def migrations() -> Iterator[CheckResult]:
    if earlier_version_message(DEFAULT_DB_ALIAS):
        advice = "set CMS_DATA_DIR to a new folder, or DATABASE_URL to a new database"
        yield CheckResult("fail", "migrations", "tables of an earlier version", advice)
        return
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if waiting:
        yield CheckResult("fail", "migrations", f"{len(waiting)} not applied", "./run migrate")
    else:
        yield CheckResult("ok", "migrations", "all applied")


def broker() -> Iterator[CheckResult]:
    with task_app().connection_for_write() as broker_connection:
        broker_connection.ensure_connection(max_retries=1, interval_start=0, timeout=3)
        kind = broker_connection.transport_cls
    yield CheckResult("ok", "queue", f"{kind} answers")
    if not settings.CMS_ENV.redis_url and settings.CMS_ENV.database_url:
        yield CheckResult(
            "warn", "queue", "in files of this machine", "set REDIS_URL in production"
        )


def messages() -> Iterator[CheckResult]:
    """Yield failures to queue messages, in any process."""
    known = list(known_failures())
    for failure in known:
        level: Level = "fail" if failure.is_acute else "warn"
        yield CheckResult(level, "messages to workers", failure.found, failure.advice)
    if not known:
        yield CheckResult("ok", "messages to workers", _("none is known to have failed"))


def workers() -> Iterator[CheckResult]:
    """Yield queues without a worker. Only with Redis: a queue of files carries no replies."""
    if not settings.CMS_ENV.redis_url:
        return
    names = list(settings.CELERY_TASK_QUEUES)
    served: set[str] = set()
    # A busy worker replies late, so only a worker that misses three attempts counts as missing.
    for seconds in WORKERS_ANSWER_WITHIN:
        replies = task_app().control.inspect(timeout=seconds).active_queues() or {}
        served |= {queue["name"] for queues in replies.values() for queue in queues}
        if served.issuperset(names):
            break
    unserved = [name for name in names if name not in served]
    if not unserved:
        yield CheckResult("ok", "workers", "take from every queue")
    for name in unserved:
        advice = f"start a worker with --queues {name}"
        yield CheckResult("warn", "workers", f"none takes from the queue {name}", advice)


def shared_cache() -> Iterator[CheckResult]:
    key = f"doctor-{uuid4()}"
    cache.set(key, "1", 10)
    if cache.get(key) != "1":
        yield CheckResult("fail", "cache", "does not keep values", "check REDIS_URL")
    elif settings.CMS_ENV.redis_url:
        yield CheckResult("ok", "cache", "Redis keeps values")
    else:
        yield CheckResult("ok", "cache", "in the memory of each process; several need REDIS_URL")


def folders() -> Iterator[CheckResult]:
    for name, folder in (("data", settings.DATA_DIR), ("media", settings.MEDIA_ROOT)):
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        is_writable = os.access(folder, os.W_OK | os.X_OK)
        if is_writable and not has_room(folder):
            yield CheckResult(
                "fail",
                f"{name} folder",
                _("the disk of %(folder)s has less than %(size)s MB left")
                % {"folder": folder, "size": MIN_FREE_BYTES // 2**20},
                _("make room on it, or set CMS_DATA_DIR to a folder on another disk"),
            )
        elif is_writable:
            found = _("%(folder)s is writable") % {"folder": folder}
            yield CheckResult("ok", f"{name} folder", found)
        else:
            yield CheckResult(
                "fail",
                f"{name} folder",
                _("%(folder)s is not writable") % {"folder": folder},
                _("make it writable for the user that runs the project, or set CMS_DATA_DIR"),
            )


def static_files() -> Iterator[CheckResult]:
    """Yield whether `collectstatic` was run and its result is up to date."""
    folder = Path(settings.STATIC_ROOT)
    advice = "run manage.py collectstatic --noinput, then start the web processes again"
    if not (folder / "staticfiles.json").exists():
        if settings.CMS_ENV.database_url:
            found = "not collected: sent without compression, and asked for again and again"
            yield CheckResult("warn", "static files", found, advice)
        else:
            yield CheckResult("ok", "static files", "served from where they lie")
        return
    other = [
        path
        for finder in get_finders()
        for path, storage in finder.list([])
        if not (folder / path).exists() or not cmp(storage.path(path), folder / path, False)
    ]
    if other:
        found = f"{len(other)} changed since they were collected, such as {min(other)}"
        yield CheckResult("warn", "static files", found, advice)
    else:
        yield CheckResult("ok", "static files", "collected, with hashed names")


def providers() -> Iterator[CheckResult]:
    ready = settings.CMS_ENV.configured_providers
    if ready:
        found = _("configured: %(names)s") % {"names": ", ".join(ready)}
        yield CheckResult("ok", "AI providers", found)
    else:
        yield CheckResult(
            "warn",
            "AI providers",
            _("none; the built-in demo provider is used, which is not AI"),
            _("set AI_PROVIDER_OPENAI_API_KEY or the key of another provider"),
        )


def mcp() -> Iterator[CheckResult]:
    env = settings.CMS_ENV
    if env.mcp_auth_token or env.mcp_auth_header_value:
        yield CheckResult("ok", "MCP", "credentials are configured")
    else:
        yield CheckResult(
            "warn",
            "MCP",
            "no credential in the environment: programs of this machine need none, others a token",
            "make a token for each client in the admin, or set MCP_AUTH_TOKEN",
        )
        if env.mcp_diagnostics:
            found = (
                "MCP_DIAGNOSTICS=1: every program of this machine may run commands and read the log"
            )
            advice = "set MCP_AUTH_TOKEN, or unset it and grant diagnostics to single tokens"
            yield CheckResult("warn", "MCP", found, advice)
    if env.mcp_system_user_id is not None:
        # Every call of an AI client needs this account to exist and to be active.
        user = get_user_model()._default_manager.filter(pk=env.mcp_system_user_id).first()
        if user is None or not user.is_active:
            state = "has no account" if user is None else "is a disabled account"
            found = f"MCP_SYSTEM_USER_ID={env.mcp_system_user_id} {state}"
            advice = "set it to the id of an active account, best of the role ai_agent, or unset it"
            yield CheckResult("fail", "MCP", found, advice)


def mcp_server() -> Iterator[CheckResult]:
    """Yield whether the server answers on this machine. With MCP_URL it runs elsewhere, and the admin checks it."""
    env = settings.CMS_ENV
    if env.mcp_url:
        return
    if own_status(env.mcp_port, "/health") == 200:
        yield CheckResult("ok", "MCP server", f"answers on port {env.mcp_port}")
    else:
        found = f"nothing answers on port {env.mcp_port}"
        yield CheckResult("warn", "MCP server", found, "start ./run run_mcp, or set MCP_URL")


def activity_log() -> Iterator[CheckResult]:
    waits_since = oldest_unsealed_at()
    if waits_since is not None and timezone.now() - waits_since > MAX_UNSEALED_AGE:
        minutes = (timezone.now() - waits_since) // timedelta(minutes=1)
        found = ngettext(
            "an entry has been waiting to be sealed for %(n)s minute",
            "an entry has been waiting to be sealed for %(n)s minutes",
            minutes,
        ) % {"n": minutes}
        yield CheckResult("warn", "activity log", found, _("start the worker and the scheduler"))
        return
    last = Seal.objects.order_by("-seq").first()
    if last is None:
        yield CheckResult("ok", "activity log", _("nothing is sealed yet"))
        return
    seconds = max(0, (timezone.now() - last.made_at) // timedelta(seconds=1))
    found = _("sealed up to entry %(entry)s, %(n)s seconds ago") % {"entry": last.seq, "n": seconds}
    yield CheckResult("ok", "activity log", found)


def default_secrets() -> Iterator[CheckResult]:
    env = settings.CMS_ENV
    users = get_user_model()._default_manager
    addresses = [f"{role}@example.com" for role in ("admin", "editor", "translator")]
    if any(user.check_password(DEMO_PASSWORD) for user in users.filter(email__in=addresses)):
        level: Level = "fail" if env.site_url else "warn"
        advice = "disable them or change their passwords before others can reach the site"
        yield CheckResult(level, "accounts", "demo accounts with the known password", advice)
    if not env.agent_secret:
        advice = "set AGENT_SECRET, so that receivers can check the signature"
        yield CheckResult("warn", "webhooks", "no common signing secret", advice)
    if not (env.agent_trigger_secret or env.mcp_auth_token):
        advice = "set AGENT_TRIGGER_SECRET to let other programs start agents"
        yield CheckResult("ok", "agent trigger", f"closed; {advice}")


def public_site() -> Iterator[CheckResult]:
    """Yield settings that make a public site unsafe."""
    env = settings.CMS_ENV
    level: Level = "fail" if env.site_url else "warn"
    for found, advice in open_settings():
        yield CheckResult(level, "public site", found, advice)
    for name in weak_secrets():
        advice = f"set it to {MIN_SECRET_LENGTH} random characters or more"
        yield CheckResult(
            "warn" if settings.DEBUG else "fail", "secrets", f"{name} is short", advice
        )


def outgoing() -> Iterator[CheckResult]:
    allowed = settings.CMS_ENV.outgoing_allowed_hosts
    if allowed:
        advice = "leave in OUTGOING_ALLOWED_HOSTS only what webhooks are meant to reach"
        yield CheckResult("ok", "outgoing calls", f"may also reach {', '.join(allowed)}; {advice}")
    else:
        yield CheckResult("ok", "outgoing calls", "reach public addresses only")


def daily_tasks() -> Iterator[CheckResult]:
    """Yield daily tasks that were not done for two days."""
    overdue = overdue_tasks()
    if overdue:
        found = _("not done for two days: %(names)s") % {"names": ", ".join(overdue)}
        advice = _("start the worker and the scheduler, and look into the log for errors of these")
        yield CheckResult("fail", "daily tasks", found, advice)
    else:
        yield CheckResult("ok", "daily tasks", _("each was done within two days"))


def background_threads() -> Iterator[CheckResult]:
    """Yield failures of background threads of any process within a day."""
    for name, failure in failed_loops().items():
        found = f"{name} failed with {failure['error']} at {failure['at']} ({failure['where']})"
        advice = "it goes on; look into the log of that process, and report what is not the network"
        yield CheckResult("warn", "background threads", found, advice)


CHECK_DATABASE: Final = "check the database first; where it answers, run ./run migrate"
Check = tuple[str, Callable[[], Iterator[CheckResult]], str]
"""The subject, the check, and the advice if the check itself fails."""
CHECKS: tuple[Check, ...] = (
    ("version", versions, ""),
    ("database", database, "check DATABASE_URL and that the server runs"),
    ("replica", replica, "check DATABASE_REPLICA_URL and that it is a replica of the database"),
    ("role of agents", lane, "check LANE_DATABASE_URL and that the server runs"),
    ("migrations", migrations, CHECK_DATABASE),
    ("queue", broker, "check REDIS_URL and whether the server is running"),
    ("messages to workers", messages, CHECK_DATABASE),
    ("workers", workers, "check REDIS_URL and whether the server is running"),
    ("cache", shared_cache, "check REDIS_URL and whether the server is running"),
    ("daily tasks", daily_tasks, CHECK_DATABASE),
    ("background threads", background_threads, "check REDIS_URL"),
    ("folders", folders, "check CMS_DATA_DIR"),
    ("static files", static_files, "check CMS_DATA_DIR"),
    ("AI providers", providers, ""),
    ("MCP", mcp, ""),
    ("MCP server", mcp_server, ""),
    ("outgoing calls", outgoing, "check OUTGOING_ALLOWED_HOSTS"),
    ("activity log", activity_log, CHECK_DATABASE),
    ("secrets", default_secrets, CHECK_DATABASE),
    ("public site", public_site, CHECK_DATABASE),
)


app_checks: ExtensionPoint[Check] = ExtensionPoint()
"""Checks registered by other apps."""


def examine() -> Iterator[CheckResult]:
    """Yield all results. A check that fails becomes a result, too."""
    for subject, check, advice in (*CHECKS, *app_checks):
        try:
            yield from check()
        except Exception as error:
            missing = missing_import(error)
            if missing is not None:
                advice = advice_for_imports()
            # The message of an unexpected error may contain a URL with a password; its type does
            # not.
            found = (
                f"does not work: {missing}"
                if missing
                else f"does not work ({type(error).__name__})"
            )
            yield CheckResult("fail", subject, found, advice)
