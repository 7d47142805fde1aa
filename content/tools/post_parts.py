"""Parts of a post for tools, so that clients read no more of it than they need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field, GetPydanticSchema, WithJsonSchema
from pydantic_core import core_schema

from content.document.contents import read_contents
from content.document.document import PostDocument
from content.document.post_fields import POST_FIELDS
from content.layers import Layers
from content.tools.arguments import PostId
from proofroom.core.errors import NotFound, invalid
from proofroom.core.json import Json, JsonObject

MAX_POSTS: Final = 20
"""Maximum number of posts in one call."""
MODULE_PREFIX: Final = "module:"
PARTS: Final = ("seo", "outline", "modules", f"{MODULE_PREFIX}<id>", "allowedModules")
SEO_FIELDS: Final = (
    "title",
    *(name for name, field in POST_FIELDS.items() if field.panel == "seo"),
    "featuredMediaId",
)
_ALWAYS: Final = frozenset({"title", "metaTitle", "metaDescription"})
"""SEO fields that are shown if they are empty, because that is what clients look for."""


def _validate_each(value: Any, validate: Any) -> Any:
    """Validate one reference or each of a list."""
    if not isinstance(value, list):
        return validate(value)
    if not 1 <= len(value) <= MAX_POSTS:
        raise ValueError(f"send 1 to {MAX_POSTS} posts in one call")
    return [validate(one) for one in value]


PostIds = Annotated[
    PostId | list[PostId],
    # A plain union would report each error for both of its types.
    GetPydanticSchema(
        lambda _source, handler: core_schema.no_info_wrap_validator_function(
            _validate_each, handler.generate_schema(PostId)
        )
    ),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
"""One post, or a list of posts."""
PartNames = Annotated[
    list[Annotated[str, Field(max_length=60)]],
    Field(max_length=20, description=", ".join(PARTS)),
]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts that a call asks for. `modules`: ids of single modules. Empty: the whole post."""

    names: frozenset[str]
    modules: frozenset[str]

    @classmethod
    def of(cls, names: Sequence[str]) -> Parts:
        """Parse the argument. Raises `RuleViolation` on `parts` for unknown names."""
        single = {name.removeprefix(MODULE_PREFIX) for name in names if _is_single(name)}
        others = {name for name in names if not _is_single(name)}
        unknown = sorted(others - set(PARTS))
        if unknown or "" in single:
            wrong = unknown[0] if unknown else MODULE_PREFIX
            raise invalid("parts", f"There is no part {wrong[:60]!r}. Known: {', '.join(PARTS)}.")
        return cls(frozenset(others), frozenset(single))

    @property
    def is_whole(self) -> bool:
        return not self.names and not self.modules

    def has_path(self, path: str) -> bool:
        """Return whether the parts show the value at a path."""
        if self.is_whole:
            return True
        if path.startswith("post."):
            return "seo" in self.names and path.removeprefix("post.") in SEO_FIELDS
        return "modules" in self.names or path.split(".", 2)[1] in self.modules

    def has_module(self, module_id: str) -> bool:
        return self.is_whole or "modules" in self.names or module_id in self.modules

    def require_modules(self, known: Iterable[str], post_id: object) -> None:
        """Raise `NotFound` for single modules that the post does not have."""
        missing = sorted(self.modules - set(known))
        if missing:
            raise NotFound(
                f"The post {post_id} has no module {missing[0]}. parts: [outline] names its modules."
            )


def _is_single(name: str) -> bool:
    return name.startswith(MODULE_PREFIX)


def seo_part(document: PostDocument) -> JsonObject:
    """Return the fields that search engines show, without empty ones that are rarely set."""
    return {
        name: document.fields.get(name)
        for name in SEO_FIELDS
        if name in _ALWAYS or document.fields.get(name) not in (None, "", {})
    }


def outline_part(layers: Layers, shared: Mapping[str, JsonObject]) -> list[Json]:
    """Return the modules of AI Review in order: their types, headings and numbers of words, without their props."""
    document = layers.ai_review.document
    contents = read_contents(document, shared)
    headings: dict[str, list[Json]] = {}
    for heading in contents.headings:
        holder = _module_of(heading.path)
        headings.setdefault(holder, []).append(f"{'#' * heading.level} {heading.text}")
    words: dict[str, int] = {}
    for text in contents.texts:
        holder = _module_of(text.path)
        words[holder] = words.get(holder, 0) + len(text.text.split())
    outline: list[Json] = []
    for module in document.modules:
        row: JsonObject = {"postModuleId": module.id, "type": module.type}
        if headings.get(module.id):
            row["headings"] = headings[module.id]
        row["words"] = words.get(module.id, 0)
        outline.append(row)
    return outline


def _module_of(path: str) -> str:
    return path.split(".", 2)[1] if path.startswith("modules.") else ""
