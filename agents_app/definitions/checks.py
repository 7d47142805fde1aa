"""System checks: an error for each problem of an agent file, a warning for unknown names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, get_args

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError
from django.utils.translation import gettext

from agents_app.definitions import agents as definitions
from agents_app.definitions.field_keys import ALL_MODULES
from agents_app.definitions.schema import AgentDefinition, ToolReaction
from content.document.changes import TERMS_PATH
from content.document.document import AGENT_FIELD_NAMES, CUSTOM_PREFIX
from forms.models import FormDefinition
from proofroom.accounts.queries import permissions_of
from proofroom.accounts.roles import Role
from proofroom.core.tools import all_tools
from proofroom.definitions import FieldType, modules, post_types, props_of

_FIELD_TYPES: Final = get_args(FieldType)


@dataclass(frozen=True, slots=True)
class UnknownName:
    """An unknown name in a file: its place and the known alternatives. For tools and allowed fields it
    is an error, otherwise a warning, because another version of the site may know the name.
    """

    field: str
    sentence: str
    known: tuple[str, ...]
    is_error: bool = False


def unknown_names(agent: AgentDefinition) -> Iterator[UnknownName]:
    """Find the unknown names that can be checked without the database."""
    yield from _tools(agent)
    for number, entry in enumerate(agent.scopes):
        where = f"scopes.{number}"
        for name in entry.field_types:
            if name not in _FIELD_TYPES:
                sentence = gettext("there is no field type %(name)r") % {"name": name}
                yield UnknownName(f"{where}.fieldTypes", sentence, _FIELD_TYPES)
        doubts = [_about_field(f"{where}.fieldKeys", key) for key in entry.field_keys]
        known = known_paths() if entry.allowed_fields else ()
        for path in entry.allowed_fields or ():
            doubts.append(_about_path(f"{where}.allowedFields", path, known))
        yield from (doubt for doubt in doubts if doubt is not None)


def unknown_forms(agent: AgentDefinition, known: Iterable[str]) -> Iterator[UnknownName]:
    """Find unknown forms. Forms are content and may be created later."""
    slugs = tuple(sorted(known))
    for number, entry in enumerate(agent.scopes):
        for slug in entry.form_slugs:
            if slug not in slugs:
                sentence = gettext("there is no form %(slug)r") % {"slug": slug}
                yield UnknownName(f"scopes.{number}.formSlugs", sentence, slugs)


def _tools(agent: AgentDefinition) -> Iterator[UnknownName]:
    known = tuple(tool.name for tool in all_tools())
    named = [("llmConfig.allowedMCPTools", name) for name in agent.llm_config.allowed_mcp_tools]
    for number, reaction in enumerate(agent.reactions):
        if isinstance(reaction, ToolReaction):
            named.append((f"reactions.{number}.config.toolName", reaction.config.tool_name))
    for field, name in named:
        if name not in known:
            yield UnknownName(field, f"there is no tool {name!r}", known, is_error=True)
    rights = permissions_of(Role.AI_AGENT)
    permissions = {tool.name: tool.permission for tool in all_tools()}
    permitted = tuple(name for name in known if permissions[name] in rights)
    listed = agent.llm_config.allowed_mcp_tools
    for field, name in named:
        if listed and name in known and name not in listed:
            sentence = gettext(
                "%(name)r is not in allowedMCPTools, so every call would be rejected"
            ) % {"name": name}
            yield UnknownName(field, sentence, listed, is_error=True)
        elif name in known and name not in permitted:
            sentence = gettext(
                "%(name)r needs the permission %(permission)s, which agents never have, so the "
                "agent does not get this tool"
            ) % {"name": name, "permission": permissions[name]}
            yield UnknownName(field, sentence, permitted, is_error=field.startswith("reactions."))


def _post_fields() -> tuple[str, ...]:
    """Return the post fields that agents may propose, including the custom fields of all types."""
    custom = {
        CUSTOM_PREFIX + field
        for name in post_types.names()
        if (type_ := post_types.get(name)) is not None
        for field in props_of(type_.CustomFields)
    }
    return tuple(sorted(AGENT_FIELD_NAMES | custom))


def known_paths() -> tuple[str, ...]:
    """Return the valid values of `allowedFields`."""
    found = ["post.*", f"post.{CUSTOM_PREFIX}*", "module.*", ALL_MODULES, TERMS_PATH]
    found += [f"post.{name}" for name in _post_fields()]
    for type_name in modules.names():
        definition = modules.get(type_name)
        props = props_of(definition.Props) if definition is not None else {}
        found += [f"module.{type_name}.{name}" for name in ("*", *props)]
    return tuple(found)


def _about_path(where: str, path: str, known: Sequence[str]) -> UnknownName | None:
    if path in known:
        return None
    sentence = gettext("%(path)r is not a field that agents may propose") % {"path": path[:200]}
    near = get_close_matches(path, known, 1, cutoff=0.5)
    if near:
        sentence += gettext("; did you mean %(near)r?") % {"near": near[0]}
    # List the siblings of the nearest match, otherwise the possible forms of a path.
    begin = near[0].rpartition(".")[0] + "." if near else ""
    beside = [one for one in known if near and one.startswith(begin)]
    forms = (
        "post.<field>",
        "post.*",
        "module.<type>.<prop>",
        "module.<type>.*",
        "module.*",
        ALL_MODULES,
    )
    return UnknownName(where, sentence, tuple(beside) or forms, is_error=True)


def _about_field(where: str, key: str) -> UnknownName | None:
    kind, _, rest = key.partition(".")
    if kind == "post":
        known = _post_fields()
        if rest in known:
            return None
        return UnknownName(where, f"there is no post field as in {key!r}", known)
    type_name, _, path = rest.partition(".")
    definition = modules.get(type_name) if kind == "module" else None
    if definition is None:
        sentence = gettext("%(key)r is not a field; use post.<field> or module.<type>.<prop>") % {
            "key": key
        }
        return UnknownName(where, sentence, tuple(modules.names()))
    props = tuple(props_of(definition.Props))
    if path.partition(".")[0] in props:
        return None
    return UnknownName(where, f"{type_name} has no prop as in {key!r}", props)


@register("definitions")
def check_agents(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: object
) -> list[CheckMessage]:
    """Check all agent files and the names in them."""
    # Checks must read the current files, not those loaded when the process started.
    definitions.reload()
    found = definitions.catalogue()
    messages: list[CheckMessage] = [
        Error(
            f"{problem.file}: {problem.field}: {problem.reason}",
            hint="Mend the file. Until then its agent is left out.",
            id="agents_app.E001",
        )
        for problem in found.problems
    ]
    for agent in found.definitions.values():
        messages += [_message(agent.id, item) for item in unknown_names(agent)]
    return messages


@register(Tags.database)
def check_forms(
    app_configs: Sequence[AppConfig] | None = None,
    databases: Sequence[str] | None = None,
    **kwargs: object,
) -> list[CheckMessage]:
    """Check the forms that agents wait for. Runs only with `--database`, because forms are content."""
    if not databases:
        return []
    try:
        known = set(FormDefinition.objects.values_list("slug", flat=True))
    except DatabaseError:  # before the tables are made
        return []
    return [
        _message(agent.id, item)
        for agent in definitions.all_agents()
        for item in unknown_forms(agent, known)
    ]


def _message(agent_id: str, item: UnknownName) -> CheckMessage:
    text = f"{definitions.catalogue().files[agent_id]}: {item.field}: {item.sentence}"
    hint = f"Known: {', '.join(item.known) or 'none'}."
    if item.is_error:
        return Error(text, hint=hint, id="agents_app.E002")
    return Warning(text, hint=hint, id="agents_app.W001")
