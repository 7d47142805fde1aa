"""The product's imports are in the lock files of a deployment, and the lock files agree."""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
import yaml
from django.conf import settings
from packaging.requirements import Requirement

from tests.commands import run_command

ROOT: Path = settings.BASE_DIR
PACKAGES = (
    "proofroom", "proofroom_apps", "media", "content", "forms", "seo", "analytics", "agents_app",
    "mcp_bridge", "cms_project",
)  # fmt: skip
EXTRAS = {
    "django-storages",
    "pydantic-ai-slim",
    "opentelemetry-api",
    "opentelemetry-sdk",
    "opentelemetry-exporter-otlp-proto-http",
    "prometheus-client",
    "python3-saml",
    "sentry-sdk",
}
NOT_IMPORTED = {
    "httptools": "uvicorn's protocol that the MCP server derives from",
    "httpx": "the HTTP client for a site's own code",
    "websockets": "uvicorn's websockets",
    "markdown": "Markdown for a site's own code",
}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(name: str) -> dict[str, str]:
    """Return versions by distribution."""
    pinned = r"^([a-z0-9][\w.-]*)(?:\[[^\]]+\])?==(\S+)"
    text = (ROOT / name).read_text()
    return {normal(found[1]): found[2] for found in re.finditer(pinned, text, re.MULTILINE)}


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {normal(re.split(r"[^\w.-]", wanted)[0]) for wanted in project["dependencies"]}


class _Executed(ast.NodeTransformer):
    """Remove what only type checkers read, whose packages a deployment does not need."""

    def visit_If(self, node: ast.If) -> ast.AST | None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return None
        return self.generic_visit(node)


def imported() -> Iterator[tuple[str, str]]:
    """Return each file of the product with the top-level names of its external imports."""
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(_Executed().visit(ast.parse(file.read_text()))):
                names: list[str] = []
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    names = [node.module]
                for name in {name.partition(".")[0] for name in names}:
                    if name not in sys.stdlib_module_names and name not in PACKAGES:
                        yield str(file.relative_to(ROOT)), name


def test_what_is_imported_is_declared() -> None:
    homes = packages_distributions()
    wanted = declared() | EXTRAS
    undeclared = {
        (file, name)
        for file, name in imported()
        # Packages without a distribution of their own, such as benchmarks, would be found here too.
        if not wanted & {normal(home) for home in homes.get(name, [])}
    }
    assert undeclared == set()


def test_what_is_declared_is_used() -> None:
    homes = packages_distributions()
    used = {normal(home) for _, name in imported() for home in homes.get(name, [])}
    assert declared() - used == NOT_IMPORTED.keys()


ALL_THAT_RUNS = """
import sys

class Locked:
    '''Refuses what requirements.lock does not install.'''
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in REFUSED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Locked())
import django
django.setup()
from importlib import import_module
from pkgutil import walk_packages
for package in PACKAGES:
    for found in walk_packages(import_module(package).__path__, f"{package}."):
        import_module(found.name)
for name in PROGRAMS:
    import_module(name)
from celery import current_app
print(current_app.connection_for_write().transport.driver_type)
"""
PROGRAMS = (
    "granian.cli", "uvicorn.main", "uvicorn.protocols.websockets.auto", "celery.bin.celery", "celery.bin.worker",
    "celery.bin.beat", "celery.concurrency.thread", "cms_project.wsgi", "cms_project.asgi",
    "pydantic_ai.models.openai", "pydantic_ai.models.anthropic", "pydantic_ai.models.google",
)  # fmt: skip


@pytest.mark.parametrize(
    ("redis", "driver"), [("redis://127.0.0.1:1/0", "redis"), ("", "filesystem")]
)
def test_all_that_runs_is_locked(redis: str, driver: str, tmp_path: Path) -> None:
    product = locked("requirements.lock")
    refused = {
        name
        for name, homes in packages_distributions().items()
        if not product.keys() & {normal(home) for home in homes}
    }
    values = f"REFUSED, PACKAGES, PROGRAMS = {refused!r}, {PACKAGES!r}, {PROGRAMS!r}"

    done = run_command(
        [sys.executable, "-c", values + ALL_THAT_RUNS],
        env={
            **os.environ,
            "CMS_DATA_DIR": str(tmp_path),
            "DATABASE_URL": "",
            "REDIS_URL": redis,
            "DJANGO_SETTINGS_MODULE": "cms_project.settings",
        },
        timeout=120,
    )

    assert (done.returncode, done.stdout.strip()) == (0, driver), done.stderr[-3000:]


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-extras.lock"])
def test_the_extras_that_packages_ask_for_are_locked(name: str) -> None:
    """pip requires a hash for everything, and treats a package with an extra as a separate requirement."""
    text = (ROOT / name).read_text()
    named = {
        normal(found[1]): set(found[2].replace(" ", "").split(","))
        for found in re.finditer(r"^([\w.-]+)\[([^\]]+)\]==", text, re.MULTILINE)
    }
    missing = []
    for package in locked(name):
        with suppress(PackageNotFoundError):
            for line in requires(package) or ():
                wanted = Requirement(line)
                applies = wanted.marker is None or wanted.marker.evaluate({"extra": ""})
                if applies and not wanted.extras <= named.get(normal(wanted.name), set()):
                    missing.append(f"{package} asks for {line}")
    assert missing == []


@pytest.mark.parametrize("name", ["requirements-extras.lock", "requirements-dev.lock"])
def test_the_other_locks_hold_the_same_versions(name: str) -> None:
    product, other = locked("requirements.lock"), locked(name)
    assert {key: other.get(key) for key in product} == product


def test_ci_tests_both_ends_of_the_versions_of_django() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    first, last = (one["django"] for one in jobs["tests"]["strategy"]["matrix"]["include"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [django] = [one for one in project["dependencies"] if one.startswith("django>")]

    assert django == f"django{first.partition(',')[0]},{last.partition(',')[2]}"
