"""Clean the texts of all items: drop characters that the site refuses, and lower headings of level 1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, cast

from django.utils.translation import gettext as _

from content.document.post_fields import POST_FIELDS
from proofroom.core.errors import CmsError
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.input_validation import NOT_IN_LINES, NOT_ON_A_LINE
from proofroom.definitions import ModuleProps, find_module, find_post_type, props_of
from proofroom.definitions.richtext.title_headings import lower_title_headings
from proofroom_apps.imports.items import Item, MenuEntryItem, MenuItem, PostItem, Remark, TermItem

# Lone surrogates: databases refuse them in text.
_HALF: Final = re.compile("[\ud800-\udfff]")
_CHARACTERS_NAMED: Final = 20


def clean_items(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items with texts that the site can store, each after remarks on removed characters.

    Remarks on a post are stored in the post item.
    """
    for item in items:
        cleaner = _Cleaner()
        match item:
            case PostItem():
                # The writer reports unknown types and deep nesting.
                with suppress(CmsError, RecursionError):
                    item = cleaner.post(item)
                if cleaner.found:
                    item = replace(item, remarks=(*item.remarks, *cleaner.remarks(item.place)))
            case TermItem():
                item = replace(
                    item,
                    name=cleaner.line("name", item.name),
                    description=cleaner.lines("description", item.description),
                )
                yield from cleaner.remarks(item.name)
            case MenuItem():
                name = cleaner.line("name", item.name)
                item = replace(item, name=name, entries=cleaner.menu(item.entries))
                yield from cleaner.remarks(name)
        yield item


@dataclass
class _Cleaner:
    """Cleans the texts of one item. Collects the characters removed from each field."""

    found: dict[str, dict[str, None]] = field(default_factory=dict)

    def remarks(self, place: str) -> Iterator[Remark]:
        for name, characters in self.found.items():
            named = list(characters)[:_CHARACTERS_NAMED]
            text = _("Characters that cannot be in %(field)s were left out: %(characters)s.")
            yield Remark(place, text % {"field": name, "characters": ", ".join(named)})

    def line(self, name: str, text: str) -> str:
        return self._without(name, " ".join(text.split()), NOT_ON_A_LINE).strip()

    def lines(self, name: str, text: str) -> str:
        return self._without(name, text, NOT_IN_LINES)

    def _without(self, name: str, text: str, refused: re.Pattern[str]) -> str:
        for pattern in (refused, _HALF):
            if characters := pattern.findall(text):
                named = {f"U+{ord(character):04X}": None for character in characters}
                self.found.setdefault(name, {}).update(named)
                text = pattern.sub("", text)
        return text

    def menu(self, entries: Iterable[MenuEntryItem]) -> tuple[MenuEntryItem, ...]:
        return tuple(
            replace(entry, label=self.line("label", entry.label), entries=self.menu(entry.entries))
            for entry in entries
        )

    def post(self, item: PostItem) -> PostItem:
        fields: JsonObject = {}
        for name, value in item.fields.items():
            declared = POST_FIELDS.get(name)
            if isinstance(value, str) and declared and not declared.format:
                value = self._text(name, value, declared.kind)
            elif name == "customFields" and isinstance(value, Mapping):
                value = self.props(find_post_type(item.type).CustomFields, value)
            fields[name] = value
        modules = tuple(
            replace(module, props=self.props(find_module(module.type).Props, module.props))
            for module in item.modules
        )
        return replace(item, title=self.line("title", item.title), fields=fields, modules=modules)

    def _text(self, name: str, value: str, kind: str) -> str:
        if kind == "textarea":
            return self.lines(name, value)
        return self.line(name, value) if kind == "text" else value

    def props(self, props: type[ModuleProps], values: Mapping[str, Json]) -> JsonObject:
        known, cleaned = props_of(props), dict(values)
        for name, value in values.items():
            prop = known.get(name)
            if prop is None:
                continue
            if isinstance(value, str):
                cleaned[name] = self._text(name, value, prop.kind)
            elif prop.kind == "richtext" and isinstance(value, Mapping):
                cleaned[name] = lower_title_headings(self._node(name, value))
            elif prop.nested is not None and isinstance(value, Mapping):
                cleaned[name] = self.props(prop.nested, value)
            elif prop.nested is not None and isinstance(value, list):
                cleaned[name] = [
                    self.props(prop.nested, one) if isinstance(one, Mapping) else one
                    for one in value
                ]
        return cleaned

    def _node(self, name: str, node: Mapping[str, Json]) -> JsonObject:
        cleaned = dict(node)
        for key in ("attrs", "text"):
            value = node.get(key)
            if isinstance(value, str):
                cleaned[key] = self.lines(name, value)
            elif isinstance(value, Mapping):
                cleaned[key] = {
                    one: self.lines(name, text) if isinstance(text, str) else text
                    for one, text in value.items()
                }
        content = node.get("content")
        if isinstance(content, list):
            cleaned["content"] = [
                self._node(name, cast("Mapping[str, Json]", child))
                if isinstance(child, Mapping)
                else child
                for child in content
            ]
        return cleaned
