"""Registries of definitions in code: one class per file, in a known folder of each installed app."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Generic, TypeVar

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured

T = TypeVar("T")


class Registry(Generic[T]):
    """Subclasses of `base` in `<installed app>/<folder>/*.py`, by their attribute `name` or `key`.

    Files that begin with an underscore are skipped. Two definitions with one name raise `ImproperlyConfigured` with
    both modules. Discovery happens at the first use.
    """

    def __init__(self, folder: str, base: type[T], *, key: str = "name") -> None:
        self.folder = folder
        self.base = base
        self.key = key
        self._found: dict[str, type[T]] | None = None

    def all(self) -> dict[str, type[T]]:
        """Return all definitions in order of name."""
        if self._found is None:
            self._found = dict(sorted(self._discover()))
        return self._found

    def get(self, name: str) -> type[T] | None:
        return self.all().get(name)

    def __iter__(self) -> Iterator[type[T]]:
        return iter(self.all().values())

    def __contains__(self, name: object) -> bool:
        return name in self.all()

    def names(self) -> list[str]:
        return list(self.all())

    def _discover(self) -> Iterator[tuple[str, type[T]]]:
        seen: dict[str, str] = {}
        for module_name in self._module_names():
            module = importlib.import_module(module_name)
            for value in vars(module).values():
                if not (isinstance(value, type) and issubclass(value, self.base)):
                    continue
                # Skip classes that the module only imports.
                if value is self.base or value.__module__ != module_name:
                    continue
                name: str = getattr(value, self.key)
                if name in seen:
                    raise ImproperlyConfigured(
                        f"{self.folder}: {name!r} is defined in {seen[name]} and in {module_name}"
                    )
                seen[name] = module_name
                yield name, value

    def _module_names(self) -> Iterator[str]:
        for app in apps.get_app_configs():
            package_name = f"{app.name}.{self.folder}"
            try:
                package = importlib.import_module(package_name)
            except ModuleNotFoundError as error:
                # The app has no such folder. An import error inside of it must not be hidden.
                if error.name == package_name:
                    continue
                raise
            # An app may have a module of this name, which has no `__path__`.
            for info in pkgutil.iter_modules(getattr(package, "__path__", ())):
                if not info.name.startswith("_"):
                    yield f"{package_name}.{info.name}"
