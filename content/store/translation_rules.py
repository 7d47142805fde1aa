"""Rules for translated modules: texts belong to the translation, all other values to the source."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext as _

from content.document.changes import ABSENT, Value, same
from content.document.document import ModuleDocument, PostDocument
from proofroom.core.errors import RuleViolation, invalid
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import ModuleProps, Prop, find_module, props_of
from proofroom.definitions.props import defaults


def translated_modules(
    source: PostDocument, given: Mapping[str, Mapping[str, Json]]
) -> dict[str, JsonObject]:
    """Return the translated props of modules by source module id.

    Non-text values missing inside a list or object come from the source. Raises `RuleViolation` on `modules` for an
    unknown module (`unknown_module`) and on a prop that is not translatable (`not_translatable`). Unknown props are
    left to the module rules.
    """
    found: dict[str, JsonObject] = {}
    for id_, props in given.items():
        module = source.module(id_.lower())
        if module is None:
            message = _("The post has no module %(id)s to translate.") % {"id": id_}
            raise invalid("modules", message, code="unknown_module")
        known = find_module(module.type).Props
        values = {**module.props, **module.overrides}
        found[module.id] = _translated_props(module, known, values, props)
    return found


def changes_text_only(prop: Prop | None, before: Value, after: Value) -> bool:
    """Return whether a change of a prop leaves all untranslated values inside it unchanged, at any depth.

    List items may be moved and removed. New items need default values, except for texts.
    """
    if prop is None or not prop.translatable:
        return False
    if prop.nested is None or after is ABSENT:
        return True
    nested = prop.nested
    left = [_untranslated_values(nested, item) for item in _items(before)]
    items = [_untranslated_values(nested, item) for item in _items(after)]
    may_be_new = max(0, len(items) - len(left))
    plain = _untranslated_values(nested, {})
    # Match each item with an old one that has the same untranslated values.
    for item in items:
        found = next((other for other in left if same(other, item)), None)
        if found is not None:
            left.remove(found)
        elif may_be_new and same(item, plain):
            may_be_new -= 1
        else:
            return False
    return True


def _items(value: Value) -> list[Mapping[str, Json]]:
    """Return the objects of a list, or the single object. Other values are refused elsewhere, by path."""
    items = value if isinstance(value, list | tuple) else [value]
    return [item for item in items if isinstance(item, Mapping)]


def _untranslated_values(nested: type[ModuleProps], item: Mapping[str, Json]) -> JsonObject:
    values = {**defaults(nested), **item}
    found: JsonObject = {}
    for prop in props_of(nested).values():
        if not prop.translatable:
            found[prop.name] = values[prop.name]
        elif prop.nested is not None:
            found[prop.name] = [
                _untranslated_values(prop.nested, inner) for inner in _items(values[prop.name])
            ]
    return found


def _translated_props(
    module: ModuleDocument,
    props: type[ModuleProps],
    source: Mapping[str, Json],
    given: Mapping[str, Json],
) -> JsonObject:
    known, own = props_of(props), {}
    for name, value in given.items():
        prop = known.get(name)
        if prop is None or prop.translatable:
            nested = prop.nested if prop is not None else None
            own[name] = _fill_from_source(nested, source.get(name), value)
        # Clients may return untranslated values unchanged.
        elif value != source.get(name):
            translatable = [p.name for p in known.values() if p.translatable]
            message = _(
                "%(name)s of %(type)s is not translated: it is copied from the source. Translatable: "
                "%(translatable)s. Where the translation needs another value, change it there with "
                "update_post_module_ai_review."
            ) % {
                "name": name,
                "type": module.type,
                "translatable": ", ".join(translatable) or "nothing",
            }
            details = {f"modules.{module.id}.props.{name}": [message]}
            raise RuleViolation(message, code="not_translatable", details=details)
    return own


def _fill_from_source(nested: type[ModuleProps] | None, source: Json, given: Json) -> Json:
    """Return the given value with missing non-text values from the source.

    Lists of another length than in the source are returned unchanged.
    """
    if nested is None:
        return given
    if isinstance(given, list | tuple) and isinstance(source, list | tuple):
        # Items cannot be paired, so the rules of modules judge the list as given.
        if len(given) != len(source):
            return given
        return [_fill_from_source(nested, *pair) for pair in zip(source, given, strict=True)]
    if not (isinstance(given, Mapping) and isinstance(source, Mapping)):
        return given
    known = props_of(nested)
    missing = {
        name: value
        for name, value in source.items()
        if name in known and not known[name].translatable and name not in given
    }
    inner = {
        name: _fill_from_source(
            known[name].nested if name in known else None, source.get(name), value
        )
        for name, value in given.items()
    }
    return {**missing, **inner}
