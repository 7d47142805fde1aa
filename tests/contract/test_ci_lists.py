"""Tests that CI runs on only one of two databases: none is missed."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)


def _files(name: str) -> set[Path]:
    """Return the test files that a list leaves to the other database."""
    found: set[Path] = set()
    for pattern in (ROOT / ".ci" / name).read_text().split():
        paths = list(ROOT.glob(pattern))
        assert paths, f".ci/{name}: nothing is called {pattern}"
        for path in paths:
            found.update(path.rglob("test_*.py") if path.is_dir() else [path])
    return found


def test_every_test_runs_on_one_database_at_least() -> None:
    embedded, services = _files("only_embedded"), _files("only_on_services")

    assert not embedded & services
    lost = [path for path in embedded if "mark.services" in path.read_text()]
    assert not lost
