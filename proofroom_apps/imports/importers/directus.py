"""Imports what Directus exported: a collection as JSON or CSV, or a folder with collections, schema and files."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.core.json import JsonObject
from proofroom_apps.imports.content_importer import ContentImporter
from proofroom_apps.imports.content_source import ImportOptions, Reader
from proofroom_apps.imports.directus_export import FILES, DirectusExport, read_export
from proofroom_apps.imports.html_reader import image_paragraph, text_paragraph
from proofroom_apps.imports.items import Item, MediaItem, PostItem, Remark
from proofroom_apps.imports.markdown_content import MarkdownContent
from proofroom_apps.imports.records import RecordReader, files_in

_FILE_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.\w{1,5})?")
_ASSET: Final = re.compile(rf"/assets/({_FILE_ID.pattern})(?:[/?#]|\Z)")
_USED: Final = frozenset({"status", "date_created", "date_updated", "_group", "_code", "sort"})
_OF_BLOCKS: Final = frozenset({"id", "sort", "collection", "status"})
_STATES: Final = frozenset({"draft", "archived"})


class DirectusImporter(ContentImporter):
    name = "directus"
    label = "Directus"
    description = gettext_lazy(
        "A Directus collection exported as JSON or CSV, or a folder with the collections, "
        "snapshot.yaml and the uploads."
    )
    takes = "either"
    suffixes = (".json", ".csv", ".zip")
    default_type = "blog"
    has_mapping = True

    def open(self, path: Path, options: ImportOptions) -> Reader:
        export = read_export(path, str(options.mapping.get("items") or ""))
        return DirectusReader(export, path, options)


class DirectusReader(RecordReader):
    """A reader of items.

    A file is named by its id: with its suffix in Directus' folder, below `assets` on its site.
    """

    def __init__(self, export: DirectusExport, path: Path, options: ImportOptions) -> None:
        super().__init__(export.records(), path, options)
        self.export = export
        if path.is_dir():
            below = [
                path / name for name in ("uploads", "assets", "files") if (path / name).is_dir()
            ]
            folders = (*self.files.folders, *below, path.resolve())
            self.files = replace(self.files, folders=folders)
        self.described = {str(row.get("id")): row for row in export.collections.get(FILES, ())}

    def items(self, wanted: Collection[str] = ()) -> Iterator[Item]:
        for id_, row in self.described.items() if not wanted else ():
            if str(row.get("type") or "").startswith(("image/", "application/pdf")):
                alt = str(row.get("description") or "") or str(row.get("title") or "")
                yield MediaItem(self.file_key(id_, ""), " ".join(alt.split()))
        yield from super().items(wanted)

    def used_names(self, record: JsonObject) -> Collection[str]:
        return _USED

    def _post(
        self,
        record: JsonObject,
        source_id: str,
        title: str,
        terms: tuple[tuple[str, str], ...],
        is_wanted: bool,
    ) -> PostItem:
        item = super()._post(record, source_id, title, terms, is_wanted)
        remarks = list(item.remarks)
        status = record.get("status")
        if status in _STATES:
            text = _("Its status in the source: %(status)s.") % {"status": status}
            remarks.append(Remark(item.place, text, "info"))
        group = str(record.get("_group") or "")
        return replace(item, translation_group=group, remarks=tuple(remarks))

    def _mapping(self) -> dict[str, str]:
        found = super()._mapping()
        # The language of a translation, unless the mapping names another field.
        if "locale" not in found and any("_code" in record for record in self.records):
            found["locale"] = "_code"
        if "author" not in found and any("user_created" in record for record in self.records):
            found["author"] = "user_created"
        if "body" not in found and any("blocks" in record for record in self.records):
            found["body"] = "blocks"
        return found

    def _content(self, value: object) -> MarkdownContent:
        """Return the text; of blocks in other collections their texts and pictures."""
        if not isinstance(value, list) or not any(
            isinstance(one, Mapping) and ("collection" in one or "item" in one) for one in value
        ):
            return super()._content(value)
        content = MarkdownContent()
        for block in value:
            if not isinstance(block, Mapping):
                content.left_out["block that is not in the export"] += 1
                continue
            inside = block.get("item")
            content.simpler[f"block {block.get('collection') or ''}".strip()] += 1
            content.add(self._block(inside if isinstance(inside, Mapping) else block))
        return content

    def _block(self, block: Mapping[str, object]) -> MarkdownContent:
        content = MarkdownContent()
        for name, value in block.items():
            if name in _OF_BLOCKS or value in (None, "", [], {}) or isinstance(value, bool | int):
                continue
            if isinstance(value, str) and not _FILE_ID.fullmatch(value):
                content.add(super()._content(value))
                continue
            files = files_in(value)[0]
            for file in files:
                content.blocks.append(image_paragraph(file.address, file.alt_text))
                if file.description:
                    content.blocks.append(text_paragraph(file.description, "italic"))
            if not files:
                content.left_out[f"{name} of a block"] += 1
        return content

    def alt_text(self, key: str) -> str:
        found = _FILE_ID.search(key)
        row = self.described.get(found[0].split(".")[0]) if found else None
        return " ".join(str(row.get("description") or "").split()) if row else ""

    def file_key(self, address: str, base: str) -> str:
        if (asset := _ASSET.search(_path_of(address))) and self._is_of_site(address):
            address = asset[1]
        if found := _FILE_ID.fullmatch(address):
            name = str(self.described.get(address, {}).get("filename_disk") or address)
            name = name if _FILE_ID.fullmatch(name) else address
            has_suffix = "." in name
            for folder in self.files.folders:
                for path in sorted(folder.glob(name if has_suffix else f"{address}.*")):
                    return path.name
            address = f"/assets/{found[0]}"
        return super().file_key(address, base)

    def _is_of_site(self, address: str) -> bool:
        """Return whether an address below `assets` is a file of the export, not of another Directus."""
        site = self.options.site
        if address.startswith("/") or (site and address.startswith(site)):
            return True
        found = _FILE_ID.search(address)
        return found is not None and found[0] in self.described


def _path_of(address: str) -> str:
    try:
        return urlsplit(address).path
    except ValueError:
        return ""
