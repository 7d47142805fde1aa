"""The field that a field agent works on: `post.title`, `post.customFields.x`, `module.hero.title`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext

from agents_app.definitions.field_keys import list_index, prop_type
from content.document.changes import same
from content.document.document import AGENT_FIELD_NAMES, CUSTOM_PREFIX, ModuleDocument, PostDocument
from content.document.post_fields import POST_FIELDS
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import Json
from proofroom.definitions import modules, post_types, props_of


@dataclass(frozen=True, slots=True)
class FieldTarget:
    """A field of a post, or a place inside the props of a module (`module_id`, then the keys of `path`)."""

    key: str
    field_type: str
    module_id: str | None
    path: tuple[str, ...]

    def value(self, document: PostDocument) -> Json:
        """Return the value of the field; None without a value."""
        module = self.module(document)
        if module is None:
            return document.fields.get(".".join(self.path))
        found: Json = {**module.props, **module.overrides}
        for part in self.path:
            found = step_into(found, part)
        return found

    def document_path(self, document: PostDocument) -> str:
        """Return the path of the field in layers, reviews and rejections: that of the whole prop it belongs to."""
        module = self.module(document)
        if module is None:
            return f"post.{'.'.join(self.path)}"
        part = "props" if module.scope == "local" else "overrides"
        return f"modules.{module.id}.{part}.{self.path[0]}"

    def part_of(self, value: Json) -> Json:
        """Return the field's part of a value at `document_path`."""
        for part in self.path[1:] if self.module_id is not None else ():
            value = step_into(value, part)
        return value

    def module(self, document: PostDocument) -> ModuleDocument | None:
        return None if self.module_id is None else document.module(self.module_id)

    def value_within(self, prop: Json, current: Json) -> Json:
        """Return the field's part of a new value of the whole prop.

        Raises `RuleViolation` if the new value differs from the current one elsewhere.
        """
        found = prop
        for part in self.path[1:]:
            found = step_into(found, part)
        if not same(_put(current, self.path[1:], found), prop):
            raise invalid(
                "module.props",
                gettext("Change only %(key)s. Leave the rest of the property unchanged.")
                % {"key": self.key},
                code="not_asked_for",
            )
        return found

    def edit(self, value: Json) -> Callable[[PostDocument], PostDocument]:
        """Return the edit that sets the field to the value."""

        def edit(document: PostDocument) -> PostDocument:
            if self.module_id is None:
                return document.with_fields({".".join(self.path): value})
            module = document.module(self.module_id)
            if module is None:
                raise invalid(
                    "fieldKey",
                    gettext("This post no longer has the module %(module_id)s.")
                    % {"module_id": self.module_id},
                )
            name, *rest = self.path
            part = "props" if module.scope == "local" else "overrides"
            values: Mapping[str, Json] = getattr(module, part)
            current = values.get(name, module.props.get(name))
            changed = {**values, name: _put(current, rest, value)}
            if part == "props":
                return document.with_module(replace(module, props=changed))
            return document.with_module(replace(module, overrides=changed))

        return edit


def find_field(document: PostDocument, key: str, post_module_id: str | None = None) -> FieldTarget:
    """Return the field of a key, in the first module of its type unless `post_module_id` selects one.

    Raises `RuleViolation` on `fieldKey` or `postModuleId`.
    """
    kind, _, rest = key.partition(".")
    if kind == "post" and rest:
        return _post_field(document, key, rest)
    type_name, _, path = rest.partition(".")
    if kind != "module" or not type_name or not path:
        raise invalid(
            "fieldKey",
            gettext("%(key)r is not a field. Use post.<field> or module.<type>.<prop>.")
            % {"key": key},
        )
    module = _module(document, type_name, post_module_id)
    definition = modules.get(type_name)
    props = props_of(definition.Props) if definition else {}
    name = path.split(".")[0]
    if name not in props:
        known = ", ".join(props) or "none"
        raise invalid(
            "fieldKey",
            gettext("%(type_name)s has no property %(name)r. Available: %(known)s.")
            % {"type_name": type_name, "name": name, "known": known},
        )
    return FieldTarget(key, prop_type(path, type_name), module.id, tuple(path.split(".")))


def _post_field(document: PostDocument, key: str, name: str) -> FieldTarget:
    if name.startswith(CUSTOM_PREFIX):
        definition = post_types.get(document.type)
        prop = (
            props_of(definition.CustomFields).get(name.removeprefix(CUSTOM_PREFIX))
            if definition
            else None
        )
        if prop is not None:
            return FieldTarget(key, prop.kind, None, (name,))
    elif name in AGENT_FIELD_NAMES:
        return FieldTarget(key, POST_FIELDS[name].field_type, None, (name,))
    known = ", ".join(f"post.{field}" for field in sorted(AGENT_FIELD_NAMES))
    raise invalid(
        "fieldKey",
        gettext("Agents do not work on the field %(key)r. Available fields: %(known)s.")
        % {"key": key, "known": known},
    )


def _module(document: PostDocument, type_name: str, post_module_id: str | None) -> ModuleDocument:
    if post_module_id:
        module = document.module(post_module_id.lower())
        if module is None or module.type != type_name:
            message = gettext(
                "This post has no %(type_name)s module with the ID %(post_module_id)s."
            ) % {"type_name": type_name, "post_module_id": post_module_id}
            raise invalid("postModuleId", message)
        return module
    module = next((module for module in document.modules if module.type == type_name), None)
    if module is None:
        raise invalid(
            "fieldKey",
            gettext("This post has no module of type %(type_name)r.") % {"type_name": type_name},
        )
    return module


def step_into(value: Json, part: str) -> Json:
    """Return the part of an object or list; None if there is none."""
    if isinstance(value, Mapping):
        return value.get(part)
    place = list_index(part)
    if isinstance(value, Sequence) and not isinstance(value, str) and place is not None:
        return value[place] if place < len(value) else None
    return None


def _put(current: Json, path: Sequence[str], value: Json) -> Json:
    if not path:
        return value
    part, rest = path[0], path[1:]
    if isinstance(current, Mapping):
        return {**current, part: _put(current.get(part), rest, value)}
    if isinstance(current, Sequence) and not isinstance(current, str):
        place = list_index(part)
        if place is None or place >= len(current):
            raise _missing(part)
        items = list(current)
        items[place] = _put(items[place], rest, value)
        return items
    raise _missing(part)


def _missing(part: str) -> RuleViolation:
    return invalid("fieldKey", gettext("This field has no part %(part)r.") % {"part": part})
