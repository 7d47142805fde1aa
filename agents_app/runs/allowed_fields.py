"""The fields that an agent may propose: `allowedFields` of its scope entries, enforced wherever it
stages changes.

In a run the entries of its scope apply, to the answer and to each tool. For changes an AI client
stages in the name of an agent, the entries of all its scopes apply together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from agents_app.definitions.agents import get_agent
from agents_app.definitions.field_keys import ALL_MODULES, covers, type_of_key
from agents_app.definitions.schema import AgentDefinition, Scope, ScopeEntry
from agents_app.models import AgentRun
from agents_app.runs.ownership import executing_run
from content.document.changes import Change, diff, same
from content.document.document import ModuleDocument, PostDocument
from content.layers.stage import edit_made
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import RuleViolation
from proofroom.definitions import modules, props_of

_SHOWN: Final = 30
"""Maximum number of paths in an error."""


@dataclass(frozen=True)
class AllowedFields:
    """The fields allowed by the entries together. An entry without `allowedFields` allows all.

    `above`: the allowed fields of the run that started this one, which cannot pass on more than it
    has.
    """

    agent: AgentDefinition
    entries: tuple[ScopeEntry, ...]
    is_run: bool
    """True if the entries belong to a run, and are already filtered by its field."""
    above: AllowedFields | None = None

    @cached_property
    def is_unlimited(self) -> bool:
        return self._is_open and (self.above is None or self.above.is_unlimited)

    @cached_property
    def paths(self) -> list[str]:
        """Return the paths of the lists; combined with `above`, the narrower path of each pair."""
        own = {path for entry in self.entries for path in entry.allowed_fields or ()}
        if self.above is None or self.above.is_unlimited:
            return sorted(own)
        inherited = set(self.above.paths)
        if self._is_open:
            return sorted(inherited)
        return sorted(
            {path for path in own if any(covers(other, path) for other in inherited)}
            | {path for path in inherited if any(covers(other, path) for other in own)}
        )

    def allows(self, field: str) -> bool:
        """Return True if a field (`post.title`, `module.hero.title`) may be proposed."""
        if self.above is not None and not self.above.allows(field):
            return False
        return self._is_open or any(
            entry.allows(field)
            and (
                self.is_run
                or entry.serves(field_type=type_of_key(field), field_key=field, form_slug=None)
            )
            for entry in self.entries
        )

    @cached_property
    def _is_open(self) -> bool:
        return any(entry.allowed_fields is None for entry in self.entries)

    def require(self, fields: Mapping[str, str]) -> None:
        """Raise `RuleViolation` for each path whose field may not be proposed. `fields`: fields by path."""
        refused = [
            path for path, field in fields.items() if not self.allows(field) and _is_known(field)
        ]
        if refused:
            allowed_paths = ", ".join(self.paths[:_SHOWN]) + (
                ", …" if len(self.paths) > _SHOWN else ""
            )
            sentence = f"{self.agent.name} may not propose this: leave it out. It may propose: {allowed_paths}."
            raise RuleViolation(
                f"{refused[0][:200]}: {sentence}",
                code="field_not_allowed",
                details={path[:300]: [sentence] for path in refused},
            )


def fields_of_run(agent: AgentDefinition, run: AgentRun) -> AllowedFields:
    """Return the fields a run may propose. One query for each run before it in its chain."""
    entries = agent.entries(run.scope)
    if run.scope == Scope.FIELD:
        type_ = type_of_key(run.field_key)
        serving = [
            entry
            for entry in entries
            if entry.serves(field_type=type_, field_key=run.field_key, form_slug=None)
        ]
        # The agent's file may have changed since the run began; then all its field entries apply.
        entries = serving or entries
    above = None
    # A run started by an event has all rights of its agent, so the limits of the chain end there.
    if run.cause_run is not None and run.event_id is None:
        before = get_agent(run.cause_run.agent_id)
        above = fields_of_run(before, run.cause_run) if before is not None else None
    return AllowedFields(agent, tuple(entries or _all_entries(agent)), is_run=True, above=above)


def fields_of_actor(actor: Actor) -> AllowedFields | None:
    """Return the fields that a run, or an AI client in the name of an agent, may propose; None for
    other actors.

    One query unless the run is the one executed by this thread.
    """
    agent = get_agent(actor.agent_id) if actor.agent_id else None
    if agent is None:
        return None
    if actor.run_id is not None:
        at_work = executing_run()
        is_here = at_work is not None and str(at_work.pk) == actor.run_id
        run = at_work if is_here else find_by_id(AgentRun.objects, actor.run_id)
        return fields_of_run(agent, run) if run is not None else None
    if not actor.names_agent:
        return None
    return AllowedFields(agent, _all_entries(agent), is_run=False)


def require_allowed_fields(actor: Actor, before: PostDocument, after: PostDocument) -> None:
    """Raise `RuleViolation` if an edit in the name of an agent changes a field it may not propose."""
    allowed = fields_of_actor(actor)
    if allowed is None or allowed.is_unlimited:
        return
    fields: dict[str, str] = {}
    for change in diff(before, after):
        for field in _fields_of(change, before, after, allowed):
            if change.path not in fields or not allowed.allows(field):
                fields[change.path] = field
    allowed.require(fields)


def register_allowed_fields() -> None:
    """Check every edit of AI Review. Called once, at start."""
    edit_made.register(require_allowed_fields)


def _is_known(field: str) -> bool:
    """Return True if the field can exist. For an unknown prop the content rules give a better error."""
    kind, _dot, rest = field.partition(".")
    type_, _dot, prop = rest.partition(".")
    definition = modules.get(type_) if kind == "module" else None
    return definition is None or prop in props_of(definition.Props)


def _all_entries(agent: AgentDefinition) -> tuple[ScopeEntry, ...]:
    enabled = tuple(entry for entry in agent.scopes if entry.enabled)
    return enabled or agent.scopes


def _fields_of(
    change: Change, before: PostDocument, after: PostDocument, allowed: AllowedFields
) -> Iterator[str]:
    """Yield the fields that a change writes. For the set or order of modules this is `modules.<type>`."""
    if change.module_id is None:
        yield change.path
        return
    module = after.module(change.module_id) or before.module(change.module_id)
    type_ = module.type if module is not None else ""
    parts = change.path.split(".", 3)
    if len(parts) == 4:
        yield f"module.{type_}.{parts[3]}"
    elif change.kind == "added" and isinstance(change.after, ModuleDocument):
        yield from _fields_of_new(change.after, allowed)
    else:
        yield f"modules.{type_}"


def _fields_of_new(module: ModuleDocument, allowed: AllowedFields) -> Iterator[str]:
    """Yield the non-default props of a new module if its type is listed, otherwise `modules.<type>`."""
    own = f"module.{module.type}."
    if ALL_MODULES in allowed.paths or not any(path.startswith(own) for path in allowed.paths):
        yield f"modules.{module.type}"
        return
    definition = modules.get(module.type)
    defaults = definition.default_props() if definition is not None else {}
    props = {} if module.scope != "local" else module.props
    for name, value in {**props, **module.overrides}.items():
        if name not in defaults or not same(value, defaults[name]):
            yield own + name
