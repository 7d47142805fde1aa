from pathlib import Path

from django.utils.translation import gettext_lazy

from proofroom.imports.content_importer import ContentImporter
from proofroom.imports.content_source import ImportOptions, Reader
from proofroom.imports.records import RecordReader, read_json


class DirectusImporter(ContentImporter):
    name = "directus"
    label = "Directus"
    description = gettext_lazy("A Directus collection exported as JSON.")
    suffixes = (".json",)
    default_type = "blog"
    has_mapping = True

    def open(self, path: Path, options: ImportOptions) -> Reader:
        file = read_json(path, str(options.mapping.get("items") or ""))
        return RecordReader(file, path, options)
