from dataclasses import replace
from pathlib import Path

from django.utils.translation import gettext_lazy

from proofroom.core.json import JsonObject
from proofroom.imports.content_importer import ContentImporter
from proofroom.imports.content_source import ImportOptions, Reader
from proofroom.imports.records import RecordReader, read_json


class StrapiImporter(ContentImporter):
    name = "strapi"
    label = "Strapi"
    description = gettext_lazy("Strapi entries as JSON, as returned by its API.")
    suffixes = (".json",)
    default_type = "blog"
    has_mapping = True

    def open(self, path: Path, options: ImportOptions) -> Reader:
        file = read_json(path, str(options.mapping.get("items") or ""))
        flat = replace(file, records=[_flat(record) for record in file.records])
        return RecordReader(flat, path, options, body_format="markdown")


def _flat(value: JsonObject) -> JsonObject:
    """The entry without the wrappers `attributes` and `data` of Strapi 4."""
    attributes = value.get("attributes")
    entry = {**value, **attributes} if isinstance(attributes, dict) else dict(value)
    entry.pop("attributes", None)
    for name, inside in entry.items():
        if isinstance(inside, dict) and set(inside) <= {"data", "meta"}:
            data = inside.get("data")
            if isinstance(data, dict):
                entry[name] = _flat(data)
            elif isinstance(data, list):
                entry[name] = [_flat(one) for one in data if isinstance(one, dict)]
    return entry
