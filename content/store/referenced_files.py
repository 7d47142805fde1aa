"""The files that live content refers to, as JSON text that the statement of a post or a list writes."""

from __future__ import annotations

from typing import Any, Final

import orjson
from django.db.models import TextField
from django.db.models.functions import Cast

from media.models import LIVE, Asset, MediaReference
from media.presenters import ASSET_COLUMNS
from proofroom.core.database.compiled_queries import instance_from_row
from proofroom.core.database.json_text import JSONObject, rows_as_text

NO_FILES: Final = "[]"


def referenced_files(holder_kind: str, **holders: Any) -> Cast:
    """Return a column with the files used by live holders of a kind, for `parse_files`."""
    found = MediaReference.objects.filter(holder_kind=holder_kind, layer=LIVE, **holders)
    return rows_as_text(found.order_by("asset_id").values(entry=_file_of_reference()))


def file_text() -> Cast:
    """Return a column with the file of a `MediaReference`, for `parse_file`."""
    return Cast(_file_of_reference(), TextField())


def parse_files(text: str) -> dict[str, Asset]:
    """Return the files in a `referenced_files` column, by id."""
    entries = orjson.loads(text) if text != NO_FILES else ()
    return {entry["id"]: instance_from_row(Asset, entry) for entry in entries}


def parse_file(text: str) -> Asset:
    """Return the file in a `file_text` column."""
    return instance_from_row(Asset, orjson.loads(text))


def _file_of_reference() -> JSONObject:
    return JSONObject(**{name: f"asset__{name}" for name in ("id", *ASSET_COLUMNS)})
