"""Modules in requests: `{type, props, scope?, globalSlug?, overrides?, locked?}`."""

from __future__ import annotations

from dataclasses import dataclass, field

from content.api.common_answers import Props
from content.document.document import PostDocument
from content.store import document_edits
from content.store.post_queries import shared_module
from proofroom.core.actor import Actor
from proofroom.core.api.body import Body, Whole, Words
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.validation.errors import validate_input

MOST = 300


class ModuleEntry(Body):
    """A module of a new post."""

    type: Words
    props: Props | None = None
    overrides: Props | None = None
    scope: Words | None = None
    global_slug: Words | None = None
    locked: bool = False


class NewModule(ModuleEntry):
    """A module for an existing post."""

    order_index: Whole | None = None
    version: Whole | None = None


@dataclass(frozen=True, slots=True)
class NewModules:
    """An edit that adds modules to an empty document. Errors are keyed by `modules.<n>`."""

    entries: tuple[ModuleEntry, ...]
    actor: Actor
    ids: list[str] = field(default_factory=list)

    def __call__(self, document: PostDocument) -> PostDocument:
        for number, entry in enumerate(self.entries):
            try:
                document, id_ = add(document, entry, self.actor)
            except RuleViolation as error:
                raise _at(number, error) from None
            self.ids.append(id_)
        return document

    def by_number(self, error: RuleViolation) -> RuleViolation:
        """Return the error with module ids replaced by positions in the request."""
        numbers = {id_: number for number, id_ in enumerate(self.ids)}
        details = {}
        for path, sentences in error.details.items():
            head, _, rest = path.partition(".")
            id_, _, below = rest.partition(".")
            if head == "modules" and id_ in numbers:
                path = ".".join(part for part in (head, str(numbers[id_]), below) if part)
            details[path] = sentences
        return RuleViolation(error.message, code=error.code, details=details)


def build_modules(value: object, actor: Actor) -> NewModules:
    """Return the modules that a client sent with a new post."""
    if not isinstance(value, list) or len(value) > MOST:
        raise invalid("modules", f"modules must be a list of at most {MOST} modules.")
    entries: list[ModuleEntry] = []
    for number, item in enumerate(value):
        if not isinstance(item, dict):
            raise invalid(f"modules.{number}", "A module must be an object.")
        try:
            entries.append(validate_input(item, ModuleEntry))
        except RuleViolation as error:
            raise _at(number, error) from None

    return NewModules(tuple(entries), actor)


def add(
    document: PostDocument, entry: ModuleEntry, actor: Actor, index: int | None = None
) -> tuple[PostDocument, str]:
    """Return the document with the new module, and the module's id."""
    if entry.locked:
        actor.require("posts.edit")
    return document_edits.add_module(
        document,
        type=entry.type,
        props=entry.props,
        overrides=entry.overrides,
        shared=shared_module(entry.global_slug, entry.scope),
        scope=entry.scope,
        locked=entry.locked,
        index=index,
    )


def _at(number: int, error: RuleViolation) -> RuleViolation:
    details = {f"modules.{number}.{path}": value for path, value in error.details.items()}
    return RuleViolation(error.message, code=error.code, details=details)
