"""The steps of an operation on what is stored: documents, the paths into them, and the hashes of their values.

Works on JSON and not on `content.document`, which is how documents are today and not how they were when a migration
was written.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

from content.changes import same
from content.migration_operations.steps import Step
from content.translations.translation_status import hash_value
from proofroom.core.json import Json, JsonObject

MAX_EXAMPLES: Final = 5
_CUSTOM: Final = "post.customFields"


class Rewriting(ABC):
    """One run of steps over everything stored. Remembers where the values stand that it met."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps
        self.prefixes: set[str] = set()
        """The paths below which the values stand, such as `modules.ID.props`."""
        self.examples: list[tuple[JsonObject, JsonObject]] = []
        """The first values that changed, before and after."""
        self.inspect: Callable[[JsonObject], None] = lambda values: None
        """Called with all values of each module or post that changed."""
        self._hashes: dict[tuple[str, str, str], str] = {}

    @abstractmethod
    def document(self, document: Any) -> JsonObject:
        """The document of a post after the steps."""

    def values(self, before: Mapping[str, Json], *, is_whole: bool) -> JsonObject:
        """The values after the steps."""
        after = dict(before)
        for step in self.steps:
            after = step.apply(after, is_whole=is_whole)
        if not same(after, before):
            for name, value in before.items():
                for new in self.names_after(name):
                    if new in after:
                        key = (name, hash_value(value), new)
                        self._hashes[key] = hash_value(after[new])
            if is_whole:
                self.inspect(after)
            if len(self.examples) < MAX_EXAMPLES:
                self.examples.append((dict(before), after))
        return after

    def names_after(self, name: str) -> Sequence[str]:
        names: Sequence[str] = (name,)
        for step in self.steps:
            names = [new for known in names for new in step.names_after(known)]
        return names

    def paths_after(self, path: str) -> Sequence[str]:
        """The paths that lead to what `path` led to."""
        found = self._split(path)
        if found is None:
            return (path,)
        prefix, name, rest = found
        return [f"{prefix}.{new}{rest}" for new in self.names_after(name)]

    def _split(self, path: str) -> tuple[str, str, str] | None:
        for depth in (2, 3):
            parts = path.split(".", depth + 1)
            prefix = ".".join(parts[:depth])
            if prefix in self.prefixes and len(parts) > depth:
                rest = f".{parts[depth + 1]}" if len(parts) > depth + 1 else ""
                return prefix, parts[depth], rest
        return None

    def hash_after(self, path: str, path_after: str, hash_: str) -> str:
        """The hash of a value after the steps, from the hash of what it was; that itself where it was never met."""
        old, new = self._split(path), self._split(path_after)
        if old is None or new is None:
            return hash_
        return self._hashes.get((old[1], hash_, new[1]), hash_)

    def hashes(self, hashes: Mapping[str, str]) -> dict[str, str]:
        """Hashes of the values of a source by path, after the steps."""
        return {
            new: self.hash_after(path, new, hash_)
            for path, hash_ in hashes.items()
            for new in self.paths_after(path)
        }

    def marks(self, marks: Mapping[str, JsonObject]) -> dict[str, Json]:
        """Who wrote what in a draft, by path, after the steps."""
        found: dict[str, Json] = {}
        for path, mark in marks.items():
            for new in self.paths_after(path):
                made_from = cast(str, mark.get("source_hash") or "")
                found[new] = {**mark, "source_hash": self.hash_after(path, new, made_from)}
        return found

    def proposal(self, path: str, proposal: Any) -> JsonObject:
        """A rejected proposal at a path, after the steps."""
        found, after = self._split(path), proposal["after"]
        if found is not None and not found[2] and after["is"] == "plain":
            values = self.values({found[1]: after["value"]}, is_whole=False)
            [name] = self.names_after(found[1])
            after = {"is": "plain", "value": values[name]}
        return {**proposal, "after": after, "marks": self.marks(proposal["marks"])}

    def paths(self, paths: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(new for path in paths for new in self.paths_after(path)))


class ModuleRewriting(Rewriting):
    """Steps on the props of one type of module, and on what posts override of them."""

    def __init__(self, type_: str, steps: Sequence[Step], becomes: str = "") -> None:
        super().__init__(steps)
        self.type = type_
        self.becomes = becomes or type_

    def meet(self, module_id: str) -> None:
        """Remember a module by its `postModuleId`."""
        self.prefixes |= {f"modules.{module_id}.props", f"modules.{module_id}.overrides"}

    def module(self, module: JsonObject) -> JsonObject:
        """A module of a document or of a module group after the steps; another type stays as it is."""
        if module.get("type") != self.type:
            return module
        after: JsonObject = {**module, "type": self.becomes}
        if "postModuleId" in module:
            self.meet(str(module["postModuleId"]))
        # A document leaves the props of a shared module to its own row.
        if props := cast(JsonObject, module.get("props") or {}):
            after["props"] = self.values(props, is_whole=True)
        if overrides := cast(JsonObject, module.get("overrides") or {}):
            after["overrides"] = self.values(overrides, is_whole=False) or None
        return after

    def document(self, document: Any) -> JsonObject:
        return {**document, "modules": [self.module(module) for module in document["modules"]]}

    def proposal(self, path: str, proposal: Any) -> JsonObject:
        found = super().proposal(path, proposal)
        if proposal["after"]["is"] != "module":
            return found
        module = self.module(proposal["after"]["value"])
        return {**found, "after": {"is": "module", "value": module}}


class CustomFieldsRewriting(Rewriting):
    """Steps on the custom fields of one type of post."""

    def __init__(self, type_: str, steps: Sequence[Step]) -> None:
        super().__init__(steps)
        self.type = type_
        self.prefixes.add(_CUSTOM)

    def document(self, document: Any) -> JsonObject:
        post = document["post"]
        if post["type"] != self.type:
            return cast(JsonObject, document)
        fields = self.values(post.get("customFields") or {}, is_whole=True)
        return {**document, "post": {**post, "customFields": fields}}
