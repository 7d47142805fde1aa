"""The post document, shared by live content, drafts, revisions, exports and agent payloads.

Immutable, without Django. Names in `fields`, `props` and JSON are the wire names (camelCase).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from content.document.post_fields import AUTHORS, POST_FIELDS
from proofroom.core.json import Json, JsonObject

SCHEMA_VERSION: Final = 1

FIELD_NAMES: Final = tuple(POST_FIELDS)
"""Names of the post fields in a document, in reading order. Custom fields follow as `customFields.<name>`."""

CUSTOM_PREFIX: Final = "customFields."

AGENT_FIELD_NAMES: Final = frozenset(
    name for name, declared in POST_FIELDS.items() if declared.proposable
)
"""Names of the post fields that an agent or AI client may stage, besides custom fields."""


@dataclass(frozen=True, slots=True)
class ModuleDocument:
    """One module of a post. `id` (postModuleId) identifies it in every layer.

    `props`: the props of a local module; `{}` for a global module, whose shared instance has them. `overrides`: the
    props of a global module that this post replaces.
    """

    id: str
    type: str
    instance_id: str
    scope: str = "local"
    global_slug: str | None = None
    locked: bool = False
    props: Mapping[str, Json] = field(default_factory=dict)
    overrides: Mapping[str, Json] = field(default_factory=dict)

    @property
    def identity(self) -> tuple[str, str, str, str | None, bool]:
        """The attributes that never change for one id."""
        return (self.type, self.instance_id, self.scope, self.global_slug, self.locked)

    def to_json(self, order_index: int) -> JsonObject:
        return {
            "postModuleId": self.id,
            "moduleInstanceId": self.instance_id,
            "type": self.type,
            "scope": self.scope,
            "orderIndex": order_index,
            "locked": self.locked,
            "props": self.props,
            "overrides": self.overrides or None,
            "globalSlug": self.global_slug,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> ModuleDocument:
        return cls(
            id=cast(str, value["postModuleId"]),
            type=cast(str, value["type"]),
            instance_id=cast(str, value["moduleInstanceId"]),
            scope=cast(str, value.get("scope") or "local"),
            global_slug=cast("str | None", value.get("globalSlug")),
            locked=bool(value.get("locked")),
            props=cast("Mapping[str, Json]", value.get("props") or {}),
            overrides=cast("Mapping[str, Json]", value.get("overrides") or {}),
        )


@dataclass(frozen=True, slots=True)
class PostDocument:
    """The content of one post in one layer."""

    type: str
    locale: str
    fields: Mapping[str, Json]
    modules: tuple[ModuleDocument, ...] = ()
    taxonomy_term_ids: tuple[str, ...] = ()
    _by_id: dict[str, ModuleDocument] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def order(self) -> tuple[str, ...]:
        return tuple(module.id for module in self.modules)

    @property
    def custom_fields(self) -> JsonObject:
        return {
            name.removeprefix(CUSTOM_PREFIX): value
            for name, value in self.fields.items()
            if name.startswith(CUSTOM_PREFIX)
        }

    def module(self, module_id: str) -> ModuleDocument | None:
        # Built on first use: a review looks up ten modules for each change. The reversed order lets the first of
        # duplicate ids win.
        if not self._by_id:
            self._by_id.update((module.id, module) for module in reversed(self.modules))
        return self._by_id.get(module_id)

    def with_fields(self, changes: Mapping[str, Json]) -> PostDocument:
        """Return the document with these fields. A mapping under `customFields` is merged by name."""
        fields = dict(self.fields)
        for name, value in changes.items():
            if name == "customFields" and isinstance(value, Mapping):
                fields |= {CUSTOM_PREFIX + key: item for key, item in value.items()}
            else:
                fields[name] = value
        return replace(self, fields=fields)

    def with_terms(self, ids: Sequence[str]) -> PostDocument:
        # Sorted, so that documents with the same terms are equal.
        return replace(self, taxonomy_term_ids=tuple(sorted(set(ids))))

    def with_module(self, module: ModuleDocument, index: int | None = None) -> PostDocument:
        """Return the document with the module added, or replacing the module with its id.

        `index`: position among the other modules. Without it, a known module keeps its position and a new one goes
        last.
        """
        rest = [other for other in self.modules if other.id != module.id]
        if index is None:
            index = self.order.index(module.id) if module.id in self.order else len(rest)
        # Clients may send any index.
        rest.insert(max(0, min(index, len(rest))), module)
        return replace(self, modules=tuple(rest))

    def without_module(self, module_id: str) -> PostDocument:
        return replace(
            self, modules=tuple(module for module in self.modules if module.id != module_id)
        )

    def to_json(self) -> JsonObject:
        post: JsonObject = {"type": self.type, "locale": self.locale}
        # Missing fields are written too, so that all documents have the same keys.
        post |= {name: self.fields.get(name) for name in FIELD_NAMES}
        post["customFields"] = self.custom_fields
        return {
            "schemaVersion": SCHEMA_VERSION,
            "post": post,
            "taxonomyTermIds": list(self.taxonomy_term_ids),
            "modules": [module.to_json(index) for index, module in enumerate(self.modules)],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> PostDocument:
        """Read the output of `to_json`. Raises `ValueError` for an unknown schema version."""
        if value.get("schemaVersion") != SCHEMA_VERSION:
            raise ValueError(
                f"schemaVersion {value.get('schemaVersion')!r} is not known; this reads {SCHEMA_VERSION}"
            )
        post = cast("Mapping[str, Json]", value["post"])
        fields: JsonObject = {name: post.get(name) for name in FIELD_NAMES}
        # Documents from before the field was added.
        fields[AUTHORS] = post.get(AUTHORS) or []
        custom = cast("Mapping[str, Json]", post.get("customFields") or {})
        fields |= {CUSTOM_PREFIX + name: item for name, item in custom.items()}
        modules = cast("Sequence[Mapping[str, Json]]", value.get("modules") or ())
        terms = cast("Sequence[str]", value.get("taxonomyTermIds") or ())
        return cls(
            type=cast(str, post["type"]),
            locale=cast(str, post["locale"]),
            fields=fields,
            modules=tuple(ModuleDocument.from_json(module) for module in modules),
            taxonomy_term_ids=tuple(sorted(set(terms))),
        )
