"""The files of a Directus export: collections, the snapshot of the schema, relations, files and translations."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

from django.utils.translation import gettext as _

from proofroom.core.errors import CmsError, RuleViolation, invalid
from proofroom.core.json import Json, JsonObject
from proofroom_apps.imports.front_matter import read_data
from proofroom_apps.imports.items import Remark, counted_remarks
from proofroom_apps.imports.media_files import file_inside
from proofroom_apps.imports.record_files import LARGEST_FILE, RecordFile, read_csv, read_json

FILES: Final = "directus_files"
USERS: Final = "directus_users"
USER_FIELDS: Final = ("user_created", "author")
_SNAPSHOTS: Final = ("snapshot.yaml", "snapshot.yml", "snapshot.json", "schema.yaml", "schema.json")
_LANGUAGE_FIELDS: Final = ("languages_code", "languages_id", "language_code", "language", "locale")
_TITLES: Final = frozenset({"title", "name", "headline"})
_BODIES: Final = frozenset({"body", "content", "text", "html", "markdown", "blocks"})
_MAX_COLLECTIONS: Final = 500
_DEEPEST: Final = 4
"""Number of relations that are followed from an item."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A field that refers to other items.

    `many`: the items of `target` whose field `back` refers to this one. `junction` is the field of these that leads
    on, for a relation of many to many.
    """

    target: str
    is_many: bool = False
    back: str = ""
    junction: str = ""
    is_translation: bool = False


@dataclass
class DirectusExport:
    """Collections by name, as they were exported. `main` is the collection whose items become posts."""

    collections: dict[str, list[JsonObject]]
    places: list[str]
    remarks: list[Remark]
    main: str
    relations: dict[tuple[str, str], Relation] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    """Name of the primary key of each collection."""
    unresolved: Counter[str] = field(default_factory=Counter)
    """Number of items by field that refer to items outside of the export."""

    def __post_init__(self) -> None:
        self._by_id: dict[str, dict[str, JsonObject]] = {}
        self._by_back: dict[tuple[str, str], dict[str, list[JsonObject]]] = {}

    def records(self) -> RecordFile:
        """Return the items with everything they refer to, one for each language of an item."""
        found = RecordFile([], [], self.remarks)
        for place, item in zip(self.places, self.collections[self.main], strict=True):
            for record in self._languages_of(item):
                found.records.append(record)
                found.places.append(place)
        text = _("Refers to items that are not in the export, left out: %(names)s.")
        found.remarks.extend(counted_remarks(self.main or _("Columns"), text, self.unresolved))
        return found

    def key_of(self, collection: str) -> str:
        return self.keys.get(collection, "id")

    # Items.

    def _languages_of(self, item: JsonObject) -> Iterator[JsonObject]:
        key = self.key_of(self.main)
        id_ = _id_text(item.get(key))
        base: JsonObject = {}
        translations: list[JsonObject] = []
        for name, value in item.items():
            relation = self.relations.get((self.main, name))
            if (relation is not None and relation.is_translation) or (
                name == "translations" and _is_translations(value)
            ):
                translations = self._rows_of(item, name, relation)
            elif relation is not None:
                base[name] = self._expanded(item, name, value, relation, 1)
            elif name in USER_FIELDS:
                base[name] = self._item_at(USERS, value)
            else:
                base[name] = _parsed(value)
            if _has_bare_ids(base.get(name)) or (
                base.get(name) == [] and value not in (None, "", [], "[]")
            ):
                self.unresolved[name] += 1
                base[name] = None
            elif name in base:
                base[name] = _without_file_facts(base[name])
        if not translations:
            yield base
            return
        for translation in translations:
            code = next(
                (_code_of(translation[one]) for one in _LANGUAGE_FIELDS if translation.get(one)), ""
            )
            values: JsonObject = {}
            for name, value in translation.items():
                if name in (*_LANGUAGE_FIELDS, "id") or name == f"{self.main}_id":
                    continue
                if value not in (None, "", [], {}):
                    values[name] = _parsed(value)
            parents: JsonObject = {
                name: f"{_id_text(item[name])}:{code}"
                for (of, name), relation in self.relations.items()
                if of == self.main == relation.target and not relation.is_many and item.get(name)
            }
            yield {
                **base,
                **values,
                **parents,
                key: f"{id_}:{code}" if code else id_,
                "_group": id_,
                "_code": code,
            }

    def _expanded(
        self, item: JsonObject, name: str, value: Json, relation: Relation, depth: int
    ) -> Json:
        if depth > _DEEPEST:
            return value
        if relation.is_many:
            rows = self._rows_of(item, name, relation)
            if not relation.junction:
                return cast("Json", rows)
            inside = [self._linked(row, relation) for row in rows]
            return cast("Json", inside)
        # A parent is found by its id.
        if relation.target == self.main or isinstance(value, Mapping | list):
            return _parsed(value)
        return self._item_at(relation.target, value)

    def _linked(self, row: JsonObject, relation: Relation) -> Json:
        """Return the item that a junction row leads to; of many to any with the name of its collection."""
        value = row.get(relation.junction)
        onward = self.relations.get((relation.target, relation.junction))
        if onward is not None:
            return self._item_at(onward.target, value)
        named = row.get("collection")
        collection = named if isinstance(named, str) else ""
        return {"collection": collection, "item": self._item_at(collection, value)}

    def _item_at(self, collection: str, value: Json) -> Json:
        """Return the item that a value names or contains, else the value."""
        if isinstance(value, Mapping) or value is None:
            return value
        if collection not in self._by_id:
            key = self.key_of(collection)
            rows = self.collections.get(collection, ())
            self._by_id[collection] = {_id_text(row.get(key)): row for row in rows}
        found = self._by_id[collection].get(_id_text(value))
        if found is None:
            return value
        return found

    def _rows_of(self, item: JsonObject, name: str, relation: Relation | None) -> list[JsonObject]:
        """Return the rows of a relation to many: those in the item, else those of the other collection."""
        value = _parsed(item.get(name))
        rows = [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
        if rows or relation is None:
            return rows
        place = (relation.target, relation.back)
        if place not in self._by_back:
            grouped: dict[str, list[JsonObject]] = {}
            for row in self.collections.get(relation.target, ()):
                back = row.get(relation.back)
                back = back.get(self.key_of(self.main)) if isinstance(back, dict) else back
                grouped.setdefault(_id_text(back), []).append(row)
            for group in grouped.values():
                group.sort(key=_order_of)
            self._by_back[place] = grouped
        return self._by_back[place].get(_id_text(item.get(self.key_of(self.main))), [])


def read_export(path: Path, items: str) -> DirectusExport:
    """Return the export in a file of one collection, or in a folder. `items` names the collection of the posts.

    Raises `RuleViolation`.
    """
    if path.is_file():
        file = read_csv(path) if path.suffix.lower() == ".csv" else read_json(path, items)
        return DirectusExport({"": file.records}, file.places, file.remarks, "")
    files: dict[str, RecordFile] = {}
    remarks: list[Remark] = []
    size = 0
    for found in sorted(path.rglob("*"))[: _MAX_COLLECTIONS * 10]:
        name = found.stem
        if found.suffix.lower() not in (".json", ".csv") or found.name.startswith("."):
            continue
        inside = file_inside(path, str(found.relative_to(path)))
        if inside is None or found.name in _SNAPSHOTS or len(files) >= _MAX_COLLECTIONS:
            continue
        # All collections are in memory together.
        size += inside.stat().st_size
        if size > LARGEST_FILE:
            text = _("The files of the folder are together larger than %(most)s MB.")
            raise RuleViolation(text % {"most": LARGEST_FILE // 1024**2})
        try:
            files[name] = read_csv(inside) if found.suffix.lower() == ".csv" else read_json(inside)
        except CmsError as error:
            remarks.append(Remark(found.name, error.message, "error"))
    relations, keys = _schema_in(path)
    collections = {name: file.records for name, file in files.items()}
    main = items or _main_of(collections, relations)
    if main not in files:
        raise invalid(
            "mapping",
            _("The folder has no file of the collection %(name)s.") % {"name": main[:100] or "…"},
        )
    remarks += files[main].remarks
    used = {main, FILES, USERS, *(relation.target for relation in relations.values())}
    for name, records in collections.items():
        if name not in used and records and _is_content(name, records, relations):
            text = _(
                "Not read: the collection %(name)s with %(number)s items. To import it, name it as "
                "items in the mapping."
            )
            values = {"name": name, "number": len(records)}
            remarks.append(Remark(name, text % values))
    return DirectusExport(collections, files[main].places, remarks, main, relations, keys)


def _main_of(
    collections: Mapping[str, list[JsonObject]], relations: Mapping[tuple[str, str], Relation]
) -> str:
    """Return the collection with the most items that have a text. Raises `RuleViolation`."""
    found = {
        name: len(records)
        for name, records in collections.items()
        if _is_content(name, records, relations)
    }
    if not found:
        raise RuleViolation(
            _(
                "The folder has no collection with a title and a text. Name the collection as items "
                "in the mapping."
            )
        )
    return max(found, key=lambda name: found[name])


def _is_content(
    name: str, records: list[JsonObject], relations: Mapping[tuple[str, str], Relation]
) -> bool:
    """Return whether a collection has items with a title and a text, in itself or in its translations."""
    is_part = any(relation.target == name and relation.is_many for relation in relations.values())
    if name.startswith("directus_") or is_part:
        return False
    columns = {column for record in records[:50] for column in record}
    if columns & {f"{name}_id"} | set(_LANGUAGE_FIELDS) & columns - {"language", "locale"}:
        return False
    has_translations = "translations" in columns or any(
        of == name and relation.is_translation for (of, _field), relation in relations.items()
    )
    return has_translations or bool(columns & _TITLES and columns & _BODIES)


def _schema_in(folder: Path) -> tuple[dict[tuple[str, str], Relation], dict[str, str]]:
    """Return the relations and primary keys in the snapshot of a folder; empty without one."""
    for name in _SNAPSHOTS:
        path = file_inside(folder, name)
        if path is None:
            continue
        snapshot = read_data(path)
        data = snapshot.get("data")
        snapshot = data if isinstance(data, Mapping) and "fields" in data else snapshot
        return _relations_of(snapshot), _keys_of(snapshot)
    return {}, {}


def _relations_of(snapshot: Mapping[str, object]) -> dict[tuple[str, str], Relation]:
    translated = {
        (str(row.get("collection")), str(row.get("field")))
        for row in _objects(snapshot.get("fields"))
        if "translations" in _list(_mapping(row.get("meta")).get("special"))
    }
    found: dict[tuple[str, str], Relation] = {}
    for row in _objects(snapshot.get("relations")):
        many, many_field = str(row.get("collection")), str(row.get("field"))
        one = row.get("related_collection")
        meta = _mapping(row.get("meta"))
        target = one if isinstance(one, str) else ""
        if target:
            found[many, many_field] = Relation(target)
        one_field = meta.get("one_field")
        if isinstance(one_field, str) and target:
            junction = meta.get("junction_field")
            place = (target, one_field)
            found[place] = Relation(
                many,
                is_many=True,
                back=many_field,
                junction=junction if isinstance(junction, str) and place not in translated else "",
                is_translation=place in translated,
            )
    return found


def _keys_of(snapshot: Mapping[str, object]) -> dict[str, str]:
    return {
        str(row.get("collection")): str(row.get("field"))
        for row in _objects(snapshot.get("fields"))
        if _mapping(row.get("schema")).get("is_primary_key") is True
    }


def _is_translations(value: object) -> bool:
    rows = _parsed(cast("Json", value))
    return isinstance(rows, list) and any(
        isinstance(row, Mapping) and any(name in row for name in _LANGUAGE_FIELDS) for row in rows
    )


def _parsed(value: Json) -> Json:
    """Return the list or object in a cell of CSV; other values unchanged."""
    if isinstance(value, str) and value[:2] in ("[{", '{"') and value[-1:] in "]}":
        try:
            return cast("Json", json.loads(value))
        except (ValueError, RecursionError):
            return value
    return value


def _has_bare_ids(value: object) -> bool:
    """Return whether a value is a list of numbers, in JSON or in a cell of CSV: keys of other items."""
    if isinstance(value, str):
        return re.fullmatch(r"\[\d+(?:,\d+)*\]", value) is not None
    return isinstance(value, list) and bool(value) and all(type(one) is int for one in value)


def _without_file_facts(value: Json) -> Json:
    """Return a file with its name and texts only."""
    if isinstance(value, Mapping) and "filename_disk" in value:
        return {name: value.get(name) for name in ("id", "filename_disk", "title", "description")}
    return value


def _code_of(value: Json) -> str:
    if isinstance(value, Mapping):
        value = next((value[key] for key in ("code", "id", "name") if value.get(key)), "")
    return str(value) if isinstance(value, str | int) else ""


def _id_text(value: object) -> str:
    if isinstance(value, Mapping):
        value = value.get("id")
    return "" if value is None else str(value)


def _order_of(row: Mapping[str, Json]) -> tuple[bool, float]:
    order = row.get("sort")
    try:
        return (False, float(str(order)))
    except ValueError:
        return (True, 0.0)


def _objects(value: object) -> list[Mapping[str, object]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
