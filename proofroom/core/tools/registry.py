"""The one registry of tools: those of `<app>/tools.py`, or of every file of `<app>/tools/`, of each installed app.

Agents and the MCP server consume them.

A tool is a plain function `(actor, arguments) -> dict` over a service, with a pydantic class for its arguments
(`extra="forbid"`, camelCase aliases on the wire). It raises `proofroom.core.errors.CmsError` for a refusal; the
face that called it turns the error into text that says how to mend the call.
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
"""read: changes nothing. stage: writes AI Review or a thing of its own. remove: takes something away.
open: reaches outside (agents, webhooks)."""


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
    """For tools that take none."""


class Result(BaseModel):
    """Base of what a tool promises to answer; names are camelCase on the wire."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, defer_build=True)


A = TypeVar("A", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """A named thing that an AI client or an agent may call.

    `permission` is asked of the caller before the handler runs; the service asks again for what it does.
    `result`, where the shape is stable, is what the handler answers; clients may rely on it. The answer of a tool
    that `reads_untrusted` may hold words of visitors or of other sites. One that `waits` may take long: faces run
    it apart from the quick ones. One that `costs` spends money at a provider: faces let it be called more rarely.
    One that may run `on_event_loop` reads, mostly by a single statement.
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
    on_event_loop: bool = False


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
    on_event_loop: bool = False,
) -> Callable[[Callable[[Actor, A], JsonObject]], Callable[[Actor, A], JsonObject]]:
    """Register the decorated function under its own name; its docstring's text is the description.

    The annotation of its parameter `arguments` is what callers may send.
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
            handler=handler,  # type: ignore[arg-type]  # each is called with its own arguments
            group=group,
            idempotent=kind == "read" if idempotent is None else idempotent,
            result=result,
            reads_untrusted=reads_untrusted,
            waits=waits,
            costs=costs,
            on_event_loop=on_event_loop,
        )
        return handler

    return register


@cache
def load_tools() -> None:
    """Import the tools of every installed app, once per process: they register themselves."""
    autodiscover_modules("tools")
    for app in apps.get_app_configs():
        package = modules.get(f"{app.name}.tools")
        for file in iter_modules(getattr(package, "__path__", ())):
            import_module(f"{app.name}.tools.{file.name}")


def all_tools() -> Iterable[Tool[BaseModel]]:
    """Every registered tool, in order of name."""
    load_tools()
    return [_tools[name] for name in sorted(_tools)]


def get_tool(name: str) -> Tool[BaseModel] | None:
    """The tool of that name."""
    load_tools()
    return _tools.get(name)
