"""Sessions are Django's; their query is compiled once."""

from __future__ import annotations

from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

pytestmark = pytest.mark.django_db
ENGINES = ["proofroom.accounts.session_engines.db", "proofroom.accounts.session_engines.cached_db"]


def _store(engine: str, session_key: str | None = None) -> Any:
    return import_module(engine).SessionStore(session_key)


def _saved(engine: str) -> str:
    session = _store(engine)
    session["name"] = "value"
    session.save()
    return str(session.session_key)


def test_one_of_them_is_used() -> None:
    assert settings.SESSION_ENGINE in ENGINES


@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_saved_is_read_without_a_queryset(
    engine: str, no_cache: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = _saved(engine), _saved(engine)
    assert _store(engine, first)["name"] == "value"

    def refuse(self: QuerySet[Any], *args: Any, **kwargs: Any) -> None:
        raise AssertionError("a queryset is built for each request")

    monkeypatch.setattr(QuerySet, "filter", refuse)
    monkeypatch.setattr(QuerySet, "get", refuse)

    assert _store(engine, second)["name"] == "value"


@pytest.mark.parametrize("engine", ENGINES)
def test_one_that_has_ended_begins_anew(engine: str, no_cache: None) -> None:
    key = _saved(engine)
    ended = timezone.now() - timedelta(seconds=1)
    Session.objects.filter(session_key=key).update(expire_date=ended)

    session = _store(engine, key)

    assert not list(session.keys())
    assert session.session_key is None


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("key", ["x" * 40, "' OR 1=1 --", "ä" * 20])
def test_one_that_is_not_there_begins_anew(engine: str, key: str, no_cache: None) -> None:
    session = _store(engine, key)

    assert not list(session.keys())
    assert session.session_key is None


@pytest.fixture
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate an emptied cache."""
    monkeypatch.setattr(
        "proofroom.core.caching.redis_cache.CountingRedisCache.get", lambda *args, **named: None
    )
    monkeypatch.setattr(
        "django.core.cache.backends.locmem.LocMemCache.get", lambda *args, **named: None
    )
