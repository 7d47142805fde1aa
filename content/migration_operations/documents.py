"""Conversion of stored documents, the paths into them, and the hashes of their values.

Works on JSON instead of `content.document.document`, whose classes have the current format and not the format
at the time of the migration.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from content.document.changes import same
from content.migration_operations.steps import Step
from content.store.translation_status import hash_value
from proofroom.core.json import Json, JsonObject

MAX_EXAMPLES: Final = 5
Names: TypeAlias = Mapping[str, frozenset[str]]
"""Names of the values below each prefix, such as `modules.ID.props`."""
_CUSTOM: Final = "post.customFields"


class StepFailed(Exception):
    """A step that failed on a value, with a message for the author of the migration."""

    def __init__(self, step: Step, values: Mapping[str, Json], error: Exception) -> None:
        name = getattr(step, "name", "")
        value_text = repr(values[name] if name in values else dict(values))[:500]
        what = f"{type(step).__name__}({name!r})" if name else type(step).__name__
        super().__init__(f"{what} cannot take {value_text}: {type(error).__name__}: {error}")


class Rewriting(ABC):
    """One run of steps over all stored content. Records the hashes of changed values."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps
        self.examples: list[tuple[JsonObject, JsonObject]] = []
        """The first changed values, before and after."""
        self.inspect: Callable[[JsonObject], None] = lambda values: None
        """Called with all values of each changed module or post."""
        self._hashes: dict[tuple[str, str, str], str] = {}

    @abstractmethod
    def document(self, document: Any) -> JsonObject:
        """Return the document of a post after the steps."""

    @abstractmethod
    def names_in(self, document: Any) -> Names:
        """Return the names of a document's values before the steps."""

    def values(self, before: Mapping[str, Json], *, is_whole: bool) -> JsonObject:
        """Return the values after the steps, and record the hashes of changed ones."""
        after = dict(before)
        for step in self.steps:
            try:
                after = step.apply(after, is_whole=is_whole)
            except Exception as error:  # raised by a function of the site
                raise StepFailed(step, after, error) from error
        if not same(after, before):
            there = frozenset(before)
            for name, value in before.items():
                for new in self.names_after(name, there, is_whole=is_whole):
                    if new in after:
                        key = (name, hash_value(value), new)
                        self._hashes[key] = hash_value(after[new])
            if is_whole:
                self.inspect(after)
            if len(self.examples) < MAX_EXAMPLES:
                self.examples.append((dict(before), after))
        return after

    def names_after(self, name: str, there: frozenset[str], *, is_whole: bool) -> Sequence[str]:
        """Return the names that hold the value of `name`, or a part of it, after the steps.

        `there`: all names before.
        """
        found: Sequence[str] = (name,)
        names = there
        for step in self.steps:
            found = [new for known in found for new in step.names_after(known, names)]
            names = step.all_names_after(names, is_whole=is_whole)
        if name not in there and not names.isdisjoint(found):
            return (name,)  # another value now has this name
        return found

    def paths_after(self, path: str, names: Names) -> Sequence[str]:
        """Return the paths to the value of `path` after the steps."""
        found = _split(path, names)
        if found is None:
            return (path,)
        prefix, name, rest = found
        after = self.names_after(name, names[prefix], is_whole=_is_whole(prefix))
        return [f"{prefix}.{new}{rest}" for new in after]

    def is_taken(self, path: str, names: Names) -> bool:
        """Return whether the path leads to any value after the steps."""
        found = _split(path, names)
        if found is None:
            return True
        prefix, name, _ = found
        there = names[prefix]
        for step in self.steps:
            there = step.all_names_after(there, is_whole=_is_whole(prefix))
        return name in there

    def hash_after(self, path: str, path_after: str, hash_: str, names: Names) -> str:
        """Return the hash of a value after the steps, or the old hash if the value was not seen."""
        if _split(path, names) is None:
            return hash_
        old, new = path.rpartition(".")[2], path_after.rpartition(".")[2]
        return self._hashes.get((old, hash_, new), hash_)

    def hashes(self, hashes: Mapping[str, str], names: Names) -> dict[str, str]:
        """Return the hashes of a source's values by path after the steps. `names` are the names of the copy.

        Only values with a hash existed in the source. Defaults set by a step count as known to the copy.
        """
        had = with_paths({prefix: frozenset() for prefix in names}, hashes)
        made: JsonObject = {}
        for step in self.steps:
            made = step.apply(made, is_whole=True)
        defaults = {
            f"{prefix}.{name}": hash_value(value)
            for prefix in had
            if _is_whole(prefix)
            for name, value in made.items()
        }
        after = {
            new: self.hash_after(path, new, hash_, had)
            for path, hash_ in hashes.items()
            for new in self.paths_after(path, had)
        }
        return {**defaults, **after}

    def marks(self, marks: Mapping[str, JsonObject], names: Names) -> dict[str, Json]:
        """Return the author marks of a draft by path after the steps."""
        found: dict[str, Json] = {}
        for path, mark in marks.items():
            for new in self.paths_after(path, names):
                made_from = cast(str, mark.get("source_hash") or "")
                found[new] = {**mark, "source_hash": self.hash_after(path, new, made_from, names)}
        return found

    def proposal(self, path: str, proposal: Any, names: Names) -> JsonObject:
        """Return a rejected proposal at a path after the steps."""
        found, after = _split(path, names), proposal["after"]
        if found is not None and not found[2] and after["is"] == "plain":
            values = self.values({found[1]: after["value"]}, is_whole=False)
            [value] = values.values()
            after = {"is": "plain", "value": value}
        return {**proposal, "after": after, "marks": self.marks(proposal["marks"], names)}

    def paths(self, paths: Iterable[str], names: Names) -> list[str]:
        return list(dict.fromkeys(new for path in paths for new in self.paths_after(path, names)))


def with_paths(names: Names, paths: Iterable[str]) -> Names:
    """Return the names, extended by the names used in the paths."""
    found = dict(names)
    for path in paths:
        if split := _split(path, names):
            found[split[0]] |= {split[1]}
    return found


def _split(path: str, names: Names) -> tuple[str, str, str] | None:
    """Split a path to a value into prefix, name and rest. Return None for other paths."""
    # Custom fields have a prefix of two parts, props and overrides of three.
    for depth in (2, 3):
        parts = path.split(".", depth + 1)
        prefix = ".".join(parts[:depth])
        if prefix in names and len(parts) > depth:
            rest = f".{parts[depth + 1]}" if len(parts) > depth + 1 else ""
            return prefix, parts[depth], rest
    return None


def _is_whole(prefix: str) -> bool:
    return not prefix.endswith(".overrides")


class ModuleRewriting(Rewriting):
    """Steps on the props and overrides of one module type."""

    def __init__(self, type_: str, steps: Sequence[Step], becomes: str = "") -> None:
        super().__init__(steps)
        self.type = type_
        self.becomes = becomes or type_

    def names_of(
        self, module_id: str, props: Iterable[str] | None, overrides: Iterable[str] | None
    ) -> Names:
        """Return the names of a module's values by its `postModuleId`."""
        return {
            f"modules.{module_id}.props": frozenset(props or ()),
            f"modules.{module_id}.overrides": frozenset(overrides or ()),
        }

    def names_in(self, document: Any) -> Names:
        return self.names_in_modules(document["modules"])

    def names_in_modules(self, modules: Iterable[Any]) -> Names:
        """Return the names of the values in modules of this type."""
        found: dict[str, frozenset[str]] = {}
        for module in modules:
            if module["type"] == self.type:
                values = module.get("props"), module.get("overrides")
                found |= self.names_of(module["postModuleId"], *values)
        return found

    def module(self, module: JsonObject) -> JsonObject:
        """Return a module of a document or module group after the steps. Other types are unchanged."""
        if module.get("type") != self.type:
            return module
        after: JsonObject = {**module, "type": self.becomes}
        # Documents don't contain the props of global modules, which have their own row.
        if props := cast(JsonObject, module.get("props") or {}):
            after["props"] = self.values(props, is_whole=True)
        if overrides := cast(JsonObject, module.get("overrides") or {}):
            after["overrides"] = self.values(overrides, is_whole=False) or None
        return after

    def document(self, document: Any) -> JsonObject:
        return {**document, "modules": [self.module(module) for module in document["modules"]]}

    def proposal(self, path: str, proposal: Any, names: Names) -> JsonObject:
        if proposal["after"]["is"] != "module":
            return super().proposal(path, proposal, names)
        module = proposal["after"]["value"]
        found = super().proposal(path, proposal, {**names, **self.names_in_modules([module])})
        return {**found, "after": {"is": "module", "value": self.module(module)}}


class CustomFieldsRewriting(Rewriting):
    """Steps on the custom fields of one post type."""

    def __init__(self, type_: str, steps: Sequence[Step]) -> None:
        super().__init__(steps)
        self.type = type_

    def names_of(self, custom_fields: Iterable[str] | None) -> Names:
        return {_CUSTOM: frozenset(custom_fields or ())}

    def names_in(self, document: Any) -> Names:
        post = document["post"]
        return self.names_of(post.get("customFields")) if post["type"] == self.type else {}

    def document(self, document: Any) -> JsonObject:
        post = document["post"]
        if post["type"] != self.type:
            return cast(JsonObject, document)
        fields = self.values(post.get("customFields") or {}, is_whole=True)
        return {**document, "post": {**post, "customFields": fields}}
