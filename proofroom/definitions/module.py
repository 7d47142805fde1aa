"""Module definitions: a class per file in `<app>/modules/`, with the template `templates/modules/<name>.html`."""

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
    """A query for the newest published posts of a type in the page's language, at most `MOST_LISTED`.

    With `term_ids`, only posts with one of these terms.
    """

    type: str
    limit: int
    term_ids: tuple[str, ...] = ()


Scope = Literal["local", "global", "static"]
"""local: belongs to one post. global: shared, with overrides per post. static: defined in code, without props."""


@dataclass(frozen=True, slots=True)
class AIGuidance:
    """Advice for authors, people or AI models, on choosing the module."""

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


@dataclass(frozen=True, slots=True)
class AddressNote:
    """What the editor shows under a URL of a module.

    `new`: no facts were requested yet. `pending`: the other site has not answered. `failed`: a retry is possible.
    """

    state: Literal["new", "pending", "failed", "ok"]
    sentence: str


class Module:
    """Base class of module definitions. Empty `allowed_post_types` means every type."""

    name: ClassVar[str]
    label: ClassVar[str]
    description: ClassVar[str]
    icon: ClassVar[str] = ""
    ai: ClassVar[AIGuidance]
    allowed_scopes: ClassVar[tuple[Scope, ...]] = ("local", "global")
    allowed_post_types: ClassVar[tuple[str, ...]] = ()
    opens_page: ClassVar[bool] = False
    """True if the template shows the page's only `h1` when the module is first."""
    shows_breadcrumb: ClassVar[bool] = False
    """True if the template shows the breadcrumb, so that the page must not."""
    stylesheet: ClassVar[str] = ""
    """Path of a static file such as `cms/modules/hero.css`. Pages with the module load it once."""
    Props: ClassVar[type[ModuleProps]] = ModuleProps

    @classmethod
    def template(cls) -> str:
        return f"modules/{cls.name}.html"

    @classmethod
    def props_schema(cls) -> JsonObject:
        """Return the JSON Schema 2020-12 of the props. Each property has `translatable` and `field`."""
        return deepcopy(_schema(cls.Props))

    @classmethod
    def default_props(cls) -> JsonObject:
        return defaults(cls.Props)

    @classmethod
    def lists(cls, props: Mapping[str, Json]) -> Iterable[PostList]:
        """Return the lists of newest posts that the template needs. It gets their posts in `lists`, by these keys."""
        return ()

    @classmethod
    def address_problem(cls, address: str) -> str:
        """Return the problem of a URL entered in the module, as a sentence; "" if there is none."""
        return ""

    @classmethod
    def address_note(cls, address: str, *, requests_facts: bool = False) -> AddressNote | None:
        """Return what the editor says about a URL entered in the module; None for nothing.

        `requests_facts`: also request missing facts from the other site, in a task.
        """
        return None

    @classmethod
    def template_context(
        cls, props: Mapping[str, Json], context: Mapping[str, object]
    ) -> Mapping[str, object]:
        """Return additional template context. Runs while a page renders, so it must not query."""
        return {}

    @classmethod
    def as_markdown(
        cls, props: Mapping[str, Json], media: Media | None = None, *, level: int = 2
    ) -> str:
        """Return the module's content as Markdown; "" if it shows nothing. Must not query.

        `props`: complete props. `media`: as in templates. `level`: level of the module's heading.
        """
        return markdown_of_props(cls.Props, props, media or {}, level)


modules: Registry[Module] = Registry("modules", Module)

_schema = cache(json_schema)


def find_module(type_name: str) -> type[Module]:
    """Return the definition. Raises `RuleViolation` (`unknown_module`)."""
    found = modules.get(type_name)
    if found is None:
        raise validation.unknown(
            "module", type_name, modules.names(), code="unknown_module", field="type"
        )
    return found


def validate_props(type_name: str, props: Mapping[str, Json]) -> JsonObject:
    """Return the complete, cleaned props. Raises `RuleViolation` with details by `props.…`."""
    return validation.check(
        find_module(type_name).Props, props, prefix="props", what=f"The module {type_name}"
    )


def validate_overrides(type_name: str, overrides: Mapping[str, Json]) -> JsonObject:
    """Return the cleaned values of the given keys. Raises `RuleViolation` with details by `overrides.…`."""
    return validation.check_partial(
        find_module(type_name).Props, overrides, prefix="overrides", what=f"The module {type_name}"
    )


def coerce_markdown(type_name: str, markdown: str) -> tuple[str, JsonObject]:
    """Return the name of the module's first rich-text prop, and the Markdown as its value.

    Raises `RuleViolation` (`no_rich_text`) if the module has none.
    """
    for prop in props_of(find_module(type_name).Props).values():
        if prop.kind == "richtext":
            # Imported here for the same reason as in `fields.document_of`.
            from proofroom.definitions.richtext.markdown_reader import from_markdown

            return prop.name, from_markdown(markdown)
    message = _(
        "The module %(type_name)s has no rich-text property for Markdown. Send props instead."
    ) % {"type_name": type_name}
    raise RuleViolation(message, code="no_rich_text", details={"contentMarkdown": [message]})


def translatable_paths(type_name: str) -> set[str]:
    """Return the names of the top-level props that translations have their own values of."""
    props = props_of(find_module(type_name).Props)
    return {prop.name for prop in props.values() if prop.translatable}


def text_of(type_name: str, props: Mapping[str, Json]) -> str:
    """Return the visible text of a module, for search. Also works for types that no longer exist."""
    definition = modules.get(type_name)
    shape = definition.Props if definition else None
    try:
        stored = orjson.dumps(props)
    except TypeError:  # not serializable, such as integers of more than 64 bits
        return _text_of(shape, props)
    return _cached_text(shape, stored)


@lru_cache(maxsize=1000)
def _cached_text(shape: type[ModuleProps] | None, stored: bytes) -> str:
    """Return the text for serialized props."""
    # Cached by the serialized props, because equal props have equal text.
    return _text_of(shape, orjson.loads(stored))


def _text_of(shape: type[ModuleProps] | None, props: object) -> str:
    return "\n".join(words_of(shape, props))


def markdown_of(
    type_name: str, props: Mapping[str, Json], media: Media | None = None, *, level: int = 2
) -> str:
    """Return the module as Markdown; "" for types that no longer exist, which pages do not show either."""
    definition = modules.get(type_name)
    if definition is None:
        return ""
    return definition.as_markdown({**definition.default_props(), **props}, media, level=level)


def own_scope(type_name: str) -> Scope:
    """Return the scope of a module that is not shared: static if its definition allows only that, else local."""
    found = modules.get(type_name)
    scopes = found.allowed_scopes if found is not None else ()
    return "static" if "static" in scopes and "local" not in scopes else "local"


def excluded_because(module: type[Module], post_type: str) -> str | None:
    """Return why the module is not allowed in posts of the type; None if it is."""
    if module.allowed_post_types and post_type not in module.allowed_post_types:
        return f"{module.name} is only for {', '.join(module.allowed_post_types)}"
    return None
