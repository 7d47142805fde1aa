"""A customer's installed app, created from files during a test."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent

import pytest
from django.conf import settings
from django.test import override_settings

from content.post_checks.registry import post_checks
from proofroom.definitions import module_groups, modules, post_types, taxonomies


@contextmanager
def customer_app(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, files: Mapping[str, str]
) -> Iterator[None]:
    """Install a package `name` with these files. All registries are reloaded before and after."""
    for path in ("__init__.py", "modules/__init__.py", "module_groups/__init__.py",
                 "post_types/__init__.py", "post_checks/__init__.py"):  # fmt: skip
        target = folder / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    for path, text in files.items():
        target = folder / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(dedent(text), encoding="utf-8")
    try:
        with monkeypatch.context() as patch:
            patch.syspath_prepend(str(folder))
            for registry in (modules, post_types, module_groups, taxonomies, post_checks):
                patch.setattr(registry, "_found", None)
            with override_settings(INSTALLED_APPS=[*settings.INSTALLED_APPS, name]):
                yield
    finally:
        for module in [key for key in sys.modules if key == name or key.startswith(name + ".")]:
            del sys.modules[module]
