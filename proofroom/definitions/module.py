"""Module definitions: a class per file in `<app>/modules/`, and `templates/modules/<name>.html`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import ClassVar, Final, Literal

import orjson
from django.utils.translation import gettext as _

from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json, JsonObject
from proofroom.core.registry import Registry
from proofroom.definitions import validation
from proofroom.definitions.fields import ModuleProps
from proofroom.definitions.markdown_values import Media, markdown_of_props
from proofroom.definitions.props import defaults, json_schema, props_of, words_of

MOST_LISTED: Final = 48


@dataclass(frozen=True, slots=True)
class PostList:
    """The newest published posts of a type in the language of the page, at most `MOST_LISTED`.

    With `term_ids`, those that carry one of the terms.
    """

    type: str
    limit: int
    term_ids: tuple[str, ...] = ()


Scope = Literal["local", "global", "static"]
"""local: of one post. global: shared, with overrides per post. static: from code, without props."""


@dataclass(frozen=True, slots=True)
class AIGuidance:
    """Advice for authors, human or model, on choosing the module well."""

    layout_roles: tuple[str, ...]
    use_when: tuple[str, ...] = ()
    avoid_when: tuple[str, ...] = ()
    composition_notes: str = ""

    def as_json(self) -> JsonObject:
        return {
            "layoutRoles": list(self.layout_roles),
            "useWhen": list(self.use_when),
            "avoidWhen": list(self.avoid_when),
            "compositionNotes": self.composition_notes,
        }


class Module:
    """Base of every module definition. `allowed_post_types` empty means every type."""

    name: ClassVar[str]
    label: ClassVar[str]
    description: ClassVar[str]
    icon: ClassVar[str] = ""
    ai: ClassVar[AIGuidance]
    allowed_scopes: ClassVar[tuple[Scope, ...]] = ("local", "global")
    allowed_post_types: ClassVar[tuple[str, ...]] = ()
    opens_page: ClassVar[bool] = False
    """Whether the template shows the page's one `h1` where the module comes first."""
    shows_breadcrumb: ClassVar[bool] = False
    """Whether the template shows the way to the page, so that the page itself must not."""
    stylesheet: ClassVar[str] = ""
    """A static file such as `cms/modules/hero.css`. Pages load it where the module stands, once."""
    Props: ClassVar[type[ModuleProps]] = ModuleProps

    @classmethod
    def template(cls) -> str:
        return f"modules/{cls.name}.html"

    @classmethod
    def props_schema(cls) -> JsonObject:
        """JSON Schema 2020-12; each property carries `translatable` and `field`."""
        return deepcopy(_schema(cls.Props))

    @classmethod
    def default_props(cls) -> JsonObject:
        return defaults(cls.Props)

    @classmethod
    def lists(cls, props: Mapping[str, Json]) -> Iterable[PostList]:
        """The lists of newest posts that the template shows, which it finds in `lists` by what is given here."""
        return ()

    @classmethod
    def address_problem(cls, address: str) -> str:
        """Return what is wrong with an address that somebody typed into the module, in a sentence; "" for nothing."""
        return ""

    @classmethod
    def template_context(
        cls, props: Mapping[str, Json], context: Mapping[str, object]
    ) -> Mapping[str, object]:
        """More names for the template. Runs while a page renders, so it must not query."""
        return {}

    @classmethod
    def as_markdown(
        cls, props: Mapping[str, Json], media: Media | None = None, *, level: int = 2
    ) -> str:
        """Return what the template shows, as Markdown; "" where it shows nothing. Must not query.

        `props` are complete, `media` is that of templates, `level` that of the module's heading.
        """
        return markdown_of_props(cls.Props, props, media or {}, level)


modules: Registry[Module] = Registry("modules", Module)

_schema = cache(json_schema)


def find_module(type_name: str) -> type[Module]:
    """The definition, or `RuleViolation` with code `unknown_module`."""
    found = modules.get(type_name)
    if found is None:
        raise validation.unknown(
            "module", type_name, modules.names(), code="unknown_module", field="type"
        )
    return found


def validate_props(type_name: str, props: Mapping[str, Json]) -> JsonObject:
    """The full, cleaned props; `RuleViolation` with details keyed by `props.…`."""
    return validation.check(
        find_module(type_name).Props, props, prefix="props", what=f"The module {type_name}"
    )


def validate_overrides(type_name: str, overrides: Mapping[str, Json]) -> JsonObject:
    """The cleaned values of the given keys; `RuleViolation` with details keyed by `overrides.…`."""
    return validation.check_partial(
        find_module(type_name).Props, overrides, prefix="overrides", what=f"The module {type_name}"
    )


def coerce_markdown(type_name: str, markdown: str) -> tuple[str, JsonObject]:
    """The name of the module's first rich-text prop, and the Markdown as its value.

    Raises `RuleViolation` (`no_rich_text`) where the module has none.
    """
    for prop in props_of(find_module(type_name).Props).values():
        if prop.kind == "richtext":
            # As in `fields.document_of`, the parser is for those who write.
            from proofroom.definitions.richtext.markdown_reader import from_markdown

            return prop.name, from_markdown(markdown)
    message = _(
        "The module %(type_name)s has no rich-text property for Markdown. Send props instead."
    ) % {"type_name": type_name}
    raise RuleViolation(message, code="no_rich_text", details={"contentMarkdown": [message]})


def translatable_paths(type_name: str) -> set[str]:
    """The top-level props that a translation has of its own."""
    props = props_of(find_module(type_name).Props)
    return {prop.name for prop in props.values() if prop.translatable}


def text_of(type_name: str, props: Mapping[str, Json]) -> str:
    """The words a reader of the module sees, for search. Works for types that no longer exist."""
    definition = modules.get(type_name)
    shape = definition.Props if definition else None
    try:
        stored = orjson.dumps(props)
    except TypeError:  # what no column holds, such as numbers of more than 64 bits
        return _text_of(shape, props)
    return _kept_text(shape, stored)


@lru_cache(maxsize=1000)
def _kept_text(shape: type[ModuleProps] | None, stored: bytes) -> str:
    """The words of a module with these stored props: the same for the same props, so they are read once."""
    return _text_of(shape, orjson.loads(stored))


def _text_of(shape: type[ModuleProps] | None, props: object) -> str:
    return "\n".join(words_of(shape, props))


def markdown_of(
    type_name: str, props: Mapping[str, Json], media: Media | None = None, *, level: int = 2
) -> str:
    """The module as Markdown. Works for types that no longer exist, which a page does not show either."""
    definition = modules.get(type_name)
    if definition is None:
        return ""
    return definition.as_markdown({**definition.default_props(), **props}, media, level=level)


def own_scope(type_name: str) -> Scope:
    """Return what a module is that is not shared: local, or static where its definition allows no other."""
    found = modules.get(type_name)
    scopes = found.allowed_scopes if found is not None else ()
    return "static" if "static" in scopes and "local" not in scopes else "local"


def excluded_because(module: type[Module], post_type: str) -> str | None:
    """Return why the module refuses to stand in posts of that type; None if it may."""
    if module.allowed_post_types and post_type not in module.allowed_post_types:
        return f"{module.name} is only for {', '.join(module.allowed_post_types)}"
    return None
