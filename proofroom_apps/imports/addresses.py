"""Rewrites the addresses of files, links and posts in a source to addresses of the site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from django.utils.translation import gettext as _

from media.presenters import url_of
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import ModuleProps, props_of
from proofroom.definitions.richtext.links import safe_href
from proofroom_apps.imports.html_reader import SOURCE_IDS
from proofroom_apps.imports.writer import ImportWriter

_MOST_NAMED: Final = 50


@dataclass
class PostAddresses:
    """Rewrites addresses in one post whose address in the source is `base`. Collects the ones without a target."""

    writer: ImportWriter
    base: str
    source_id: str = ""
    # Dicts serve as ordered sets: lists would be searched for each link, which takes quadratic time.
    dead_links: dict[str, None] = field(default_factory=dict)
    dead_places: dict[str, None] = field(default_factory=dict)
    """Links to imported pages with an unknown fragment."""
    missing_files: list[str] = field(default_factory=list)
    missing_in_modules: list[str] = field(default_factory=list)
    """Missing pictures in modules that have no field for an alternative text."""

    def resolve(self, props: type[ModuleProps], values: Mapping[str, Json]) -> JsonObject:
        known = props_of(props)
        found: JsonObject = {}
        for name, value in values.items():
            prop = known.get(name)
            if prop is None:
                continue
            if prop.kind == "media" and isinstance(value, str):
                asset = self.writer.asset(value, self.base)
                if asset is None and value:
                    self.missing_files.append(value)
                    self.missing_in_modules.append(value)
                found[name] = str(asset.pk) if asset is not None else None
            elif prop.kind == "link" and isinstance(value, str) and value:
                found[name] = safe_href(self._link(value)) or ""
            elif prop.kind == "post-reference" and isinstance(value, str):
                post_id = self.writer.post_id(value)
                found[name] = str(post_id) if post_id is not None else None
            elif prop.kind == "richtext" and isinstance(value, Mapping):
                found[name] = {**value, "content": cast("Json", self._nodes(value))}
            elif prop.nested is not None and isinstance(value, list):
                found[name] = [
                    self.resolve(prop.nested, one) for one in value if isinstance(one, Mapping)
                ]
            elif prop.nested is not None and isinstance(value, Mapping):
                found[name] = self.resolve(prop.nested, value)
            else:
                found[name] = value
        return found

    def _nodes(self, node: Mapping[str, Json]) -> list[Json]:
        content = node.get("content")
        found: list[Json] = []
        for child in content if isinstance(content, list) else ():
            if not isinstance(child, Mapping):
                continue
            made: JsonObject = dict(child)
            marks = child.get("marks")
            if isinstance(marks, list):
                made["marks"] = [self._mark(mark) for mark in marks]
            if child.get("type") == "image":
                image = self._image(made)
                if image is not None:
                    found.append(image)
                continue
            # The ids served only to resolve links; they are no attribute of a stored heading.
            if child.get("type") == "heading":
                attrs = cast("Mapping[str, Json]", child.get("attrs") or {})
                made["attrs"] = {name: one for name, one in attrs.items() if name != SOURCE_IDS}
            if "content" in child:
                made["content"] = self._nodes(child)
            found.append(made)
        return found

    def _mark(self, mark: Json) -> Json:
        if not isinstance(mark, Mapping) or mark.get("type") != "link":
            return mark
        attrs = cast("Mapping[str, Json]", mark.get("attrs") or {})
        before = str(attrs.get("href") or "")
        return {**mark, "attrs": {**attrs, "href": safe_href(self._link(before)) or before}}

    def _link(self, address: str) -> str:
        found, is_dead = self.writer.link(address, self.base, self.source_id, self.dead_places)
        if is_dead:
            self.dead_links[address] = None
        return found

    def _image(self, node: JsonObject) -> JsonObject | None:
        """Return the picture with its new address.

        If the file was not imported, return a picture of the web unchanged, else the alternative text or None.
        """
        attrs = dict(cast("Mapping[str, Json]", node["attrs"]))
        address = str(attrs["src"])
        asset = self.writer.asset(address, self.base)
        if asset is not None:
            return {**node, "attrs": {**attrs, "src": url_of(asset.file.name)}}
        self.missing_files.append(address)
        # A picture of the web is shown from there. A dry run imports no files, so a missing one means nothing.
        if address.startswith(("http://", "https://")) or self.writer.is_dry_run:
            return node
        alt = str(attrs.get("alt") or "")
        if not alt:
            return None
        text: JsonObject = {"type": "text", "text": alt}
        # The picture may be a link; its text is then the same link.
        return {**text, "marks": node["marks"]} if "marks" in node else text

    def report(self) -> list[str]:
        """Return a sentence for each address without a target."""
        found = [
            _("The link to %(address)s does not match any post in the source.")
            % {"address": address[:300]}
            for address in list(self.dead_links)[:_MOST_NAMED]
        ]
        text = _(
            "The link to %(address)s points to a section that does not exist on that page here, "
            "so it now links to the page itself."
        )
        found += [text % {"address": one[:300]} for one in self.dead_places]
        # A dry run imports no files, so every picture would be reported.
        if self.writer.is_dry_run:
            return found
        for address in dict.fromkeys(self.missing_files[:_MOST_NAMED]):
            key = self.writer.reader.file_key(address, self.base)
            if key not in self.writer.problems:  # else the file has its own line
                text = _("The image %(address)s was not imported.")
                found.append(text % {"address": address[:300]})
        for address in dict.fromkeys(self.missing_in_modules[:_MOST_NAMED]):
            if alt := self.writer.reader.alt_text(self.writer.reader.file_key(address, self.base)):
                text = _("The alt text of the image %(address)s, which was not imported: “%(alt)s”")
                found.append(text % {"address": address[:300], "alt": alt})
        return found
