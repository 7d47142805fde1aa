"""The registry of tools, used by agents and the MCP server. Tools are in `<app>/tools.py` or the files of
`<app>/tools/`.

A tool is a function `(actor, arguments) -> dict` over a service, with a pydantic class for its arguments
(`extra="forbid"`, camelCase aliases on the wire). It raises `proofroom.core.errors.CmsError`; the calling interface
turns the error into a text that explains how to correct the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from sys import modules
from typing import Generic, Literal, TypeVar

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import autodiscover_modules
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject

Kind = Literal["read", "stage", "remove", "open"]
"""read: changes nothing. stage: writes AI Review or its own objects. remove: deletes something.

open: reaches other systems (agents, webhooks).
"""


class Arguments(BaseModel):
    """Base of every tool's arguments: unknown keys are refused, names are camelCase on the wire."""

    model_config = ConfigDict(
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        str_strip_whitespace=False,
        defer_build=True,
    )


class NoArguments(Arguments):
    """Arguments of tools without any."""


class Result(BaseModel):
    """Base of declared results of tools; names are camelCase on the wire."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, defer_build=True)


A = TypeVar("A", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """A tool that AI clients and agents may call.

    `permission` is checked before the handler runs; the service checks its own permissions again. `result` is the
    declared shape of the answer, if it is stable; clients may rely on it. `reads_untrusted`: the answer may contain
    text from visitors or other sites. `waits`: the tool may take long, so interfaces run it apart from quick ones.
    `costs`: it spends money at a provider, so interfaces limit its calls more.
    """

    name: str
    title: str
    description: str
    kind: Kind
    permission: str
    arguments: type[A]
    handler: Callable[[Actor, A], JsonObject]
    group: str
    idempotent: bool = False
    result: type[BaseModel] | None = None
    reads_untrusted: bool = False
    waits: bool = False
    costs: bool = False


_tools: dict[str, Tool[BaseModel]] = {}


def tool(
    *,
    title: str,
    kind: Kind,
    permission: str,
    group: str,
    idempotent: bool | None = None,
    result: type[BaseModel] | None = None,
    reads_untrusted: bool = False,
    waits: bool = False,
    costs: bool = False,
) -> Callable[[Callable[[Actor, A], JsonObject]], Callable[[Actor, A], JsonObject]]:
    """Register the decorated function as a tool; its docstring becomes the description.

    The annotation of its parameter `arguments` is the class of its arguments.
    """

    def register(handler: Callable[[Actor, A], JsonObject]) -> Callable[[Actor, A], JsonObject]:
        name = handler.__name__
        if name in _tools:
            raise ImproperlyConfigured(
                f"tool {name!r} is defined in {handler.__module__} and in {_tools[name].handler.__module__}"
            )
        description = " ".join((handler.__doc__ or "").split())
        if not description:
            raise ImproperlyConfigured(f"tool {name!r} in {handler.__module__} has no docstring")
        # With `from __future__ import annotations` this is a string, the class's name in the
        # module.
        annotation = handler.__annotations__.get("arguments", "")
        arguments = handler.__globals__.get(annotation, annotation)
        if not isinstance(arguments, type):
            raise ImproperlyConfigured(
                f"tool {name!r} in {handler.__module__} needs a parameter `arguments` that is annotated with its "
                "class, imported outside of TYPE_CHECKING"
            )
        _tools[name] = Tool(
            name=name,
            title=title,
            description=description,
            kind=kind,
            permission=permission,
            arguments=arguments,
            handler=handler,  # type: ignore[arg-type]  # only called with its own arguments
            group=group,
            idempotent=kind == "read" if idempotent is None else idempotent,
            result=result,
            reads_untrusted=reads_untrusted,
            waits=waits,
            costs=costs,
        )
        return handler

    return register


@cache
def load_tools() -> None:
    """Import the tools of all installed apps once per process. They register themselves."""
    autodiscover_modules("tools")
    for app in apps.get_app_configs():
        package = modules.get(f"{app.name}.tools")
        for file in iter_modules(getattr(package, "__path__", ())):
            import_module(f"{app.name}.tools.{file.name}")


def all_tools() -> Iterable[Tool[BaseModel]]:
    """Return all registered tools in order of name."""
    load_tools()
    return [_tools[name] for name in sorted(_tools)]


def get_tool(name: str) -> Tool[BaseModel] | None:
    """Return the tool with this name; None if there is none."""
    load_tools()
    return _tools.get(name)
