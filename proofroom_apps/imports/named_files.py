"""The files and links in content, by their source addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from proofroom.core.json import Json
from proofroom.definitions import ModuleProps
from proofroom.definitions.props import values_in
from proofroom.definitions.richtext.nodes import Node, attributes, children, kind


@dataclass
class NamedFiles:
    """Addresses of files with their texts, and addresses of links."""

    files: dict[str, str] = field(default_factory=dict)
    links: set[str] = field(default_factory=set)

    def add_props(self, props: type[ModuleProps], values: Mapping[str, Json]) -> None:
        for _name, field_type, value in values_in(props, values):
            if field_type == "media" and isinstance(value, str) and value:
                self.files.setdefault(value, "")
            elif field_type == "link" and isinstance(value, str) and value:
                self.links.add(value)
            elif field_type == "richtext" and isinstance(value, Mapping):
                self._add_node(value)

    def _add_node(self, node: Node) -> None:
        if kind(node) == "image":
            found = attributes(node)
            self.files.setdefault(str(found.get("src")), str(found.get("alt") or ""))
        marks = node.get("marks")
        for mark in marks if isinstance(marks, list) else ():
            address = attributes(mark).get("href") if isinstance(mark, Mapping) else None
            if isinstance(address, str):
                self.links.add(address)
        for child in children(node):
            self._add_node(child)
