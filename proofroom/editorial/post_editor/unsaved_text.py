"""What somebody typed into modules that others removed meanwhile, so that it can be copied elsewhere."""

from __future__ import annotations

from django.http import QueryDict

from proofroom.editorial.post_editor.form_data import Sheet
from proofroom.editorial.post_editor.form_fields import stamp
from proofroom.editorial.post_editor.rich_text_values import DOCUMENT, lines


def lost_words(sheet: Sheet, data: QueryDict) -> list[str]:
    """To be asked before the sheet is refreshed: later it knows of these modules no more."""
    order = set(data.getlist("order"))
    gone = [
        f"modules.{id_}."
        for id_ in sheet.was_order
        if id_ in order and sheet.document.module(id_) is None
    ]
    texts = {name: lines(data.get(name, "")) for name in data if name.startswith(tuple(gone))}
    return [
        text
        for name, text in texts.items()
        if text.strip() and not name.endswith((DOCUMENT, ".count")) and not _was(sheet, name, text)
    ]


def _was(sheet: Sheet, name: str, text: str) -> bool:
    return sheet.was.get(name) == stamp(text)
