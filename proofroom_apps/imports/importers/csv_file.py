"""Imports a CSV file with one row per post."""

from pathlib import Path

from django.utils.translation import gettext_lazy

from proofroom_apps.imports.content_importer import ContentImporter
from proofroom_apps.imports.content_source import ImportOptions, Reader
from proofroom_apps.imports.record_files import read_csv
from proofroom_apps.imports.records import RecordReader


class CsvImporter(ContentImporter):
    name = "csv"
    label = "CSV"
    description = gettext_lazy("A table with a header row. A mapping assigns columns to fields.")
    suffixes = (".csv", ".tsv", ".txt")
    default_type = "blog"
    has_mapping = True

    def open(self, path: Path, options: ImportOptions) -> Reader:
        return RecordReader(read_csv(path), path, options)
