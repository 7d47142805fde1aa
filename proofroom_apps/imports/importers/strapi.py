"""Imports a JSON file of entries as the Strapi API returns them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, cast

from django.utils.translation import gettext_lazy

from proofroom.core.json import Json, JsonObject
from proofroom_apps.imports.content_importer import ContentImporter
from proofroom_apps.imports.content_source import ImportOptions, Reader
from proofroom_apps.imports.html_reader import image_paragraph, text_paragraph
from proofroom_apps.imports.markdown_content import MarkdownContent, read_markdown
from proofroom_apps.imports.record_files import read_json
from proofroom_apps.imports.records import RecordReader, files_in

_COMPONENT: Final = "__component"
_DEEPEST: Final = 50


class StrapiImporter(ContentImporter):
    name = "strapi"
    label = "Strapi"
    description = gettext_lazy("Strapi entries as JSON, as returned by its API.")
    suffixes = (".json",)
    default_type = "blog"
    has_mapping = True

    def open(self, path: Path, options: ImportOptions) -> Reader:
        file = read_json(path, str(options.mapping.get("items") or ""))
        flat = [cast("JsonObject", _flat(record)) for record in file.records]
        return StrapiReader(replace(file, records=flat), path, options, body_format="markdown")


class StrapiReader(RecordReader):
    """A reader of entries. If the body is a dynamic zone, its components' texts and pictures are the content."""

    def _content(self, value: object) -> MarkdownContent:
        if not isinstance(value, list) or not any(
            isinstance(one, Mapping) and _COMPONENT in one for one in value
        ):
            return super()._content(value)
        content = MarkdownContent()
        for component in value:
            if not isinstance(component, Mapping):
                content.left_out["value that is no component"] += 1
                continue
            content.simpler[f"component {component.get(_COMPONENT)}"] += 1
            for name, inside in component.items():
                if name in (_COMPONENT, "id", "documentId") or inside in (None, "", [], {}):
                    continue
                files = [] if isinstance(inside, str) else files_in(inside)[0]
                part = MarkdownContent()
                if isinstance(inside, str):
                    part = read_markdown(inside)
                elif files:
                    for file in files:
                        part.blocks.append(image_paragraph(file.address, file.alt_text))
                        if file.description:
                            part.blocks.append(text_paragraph(file.description, "italic"))
                elif isinstance(inside, Mapping | list):
                    part = super()._content(inside)
                else:
                    part.left_out[f"{name} of a component"] += 1
                content.add(part)
        return content


def _flat(value: Json, depth: int = 0) -> Json:
    """Return the value without the wrappers `attributes` and `data` of Strapi 4."""
    if depth > _DEEPEST:
        return value
    if isinstance(value, list):
        return [_flat(one, depth + 1) for one in value]
    if not isinstance(value, dict):
        return value
    if "data" in value and set(value) <= {"data", "meta"}:
        return _flat(value["data"], depth + 1)
    attributes = value.get("attributes")
    if isinstance(attributes, dict):
        value = {name: one for name, one in value.items() if name != "attributes"} | attributes
    return {name: _flat(one, depth + 1) for name, one in value.items()}
