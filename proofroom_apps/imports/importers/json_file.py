"""Imports a JSON file with one entry per post."""

from pathlib import Path

from django.utils.translation import gettext_lazy

from proofroom_apps.imports.content_importer import ContentImporter
from proofroom_apps.imports.content_source import ImportOptions, Reader
from proofroom_apps.imports.record_files import read_json
from proofroom_apps.imports.records import RecordReader


class JsonImporter(ContentImporter):
    name = "json"
    label = "JSON"
    description = gettext_lazy("A list of objects. A mapping assigns keys to fields.")
    suffixes = (".json", ".jsonl", ".ndjson")
    default_type = "blog"
    has_mapping = True

    def open(self, path: Path, options: ImportOptions) -> Reader:
        file = read_json(path, str(options.mapping.get("items") or ""))
        return RecordReader(file, path, options)
