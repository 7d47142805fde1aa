"""Imports items that were exported from Directus as JSON."""

import re
from pathlib import Path
from typing import Final

from django.utils.translation import gettext_lazy

from proofroom_apps.imports.content_importer import ContentImporter
from proofroom_apps.imports.content_source import ImportOptions, Reader
from proofroom_apps.imports.record_files import read_json
from proofroom_apps.imports.records import RecordReader

_FILE_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.\w{1,5})?")


class DirectusImporter(ContentImporter):
    name = "directus"
    label = "Directus"
    description = gettext_lazy("A Directus collection exported as JSON.")
    suffixes = (".json",)
    default_type = "blog"
    has_mapping = True

    def open(self, path: Path, options: ImportOptions) -> Reader:
        file = read_json(path, str(options.mapping.get("items") or ""))
        return DirectusReader(file, path, options)


class DirectusReader(RecordReader):
    """A reader of items.

    A file is named by its id: with its suffix in Directus' folder, below `assets` on its site.
    """

    def file_key(self, address: str, base: str) -> str:
        if found := _FILE_ID.fullmatch(address):
            for folder in self.files.folders:
                for path in sorted(folder.glob(address if found[1] else f"{address}.*")):
                    return path.name
            address = f"/assets/{address}"
        return super().file_key(address, base)
