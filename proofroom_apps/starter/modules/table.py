from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from django.utils.translation import gettext as _
from pydantic import field_validator

from proofroom.core.json import Json, JsonObject
from proofroom.definitions import AIGuidance, Boolean, Module, ModuleProps, Text, Textarea
from proofroom.definitions.markdown_values import Media, heading, paragraphs, written
from proofroom.definitions.props import text

MOST_ROWS: Final = 300
MOST_COLUMNS: Final = 30
_MAX_UNIT_LENGTH: Final = 3
# As in Markdown, a bar after a backslash is text.
_APART: Final = re.compile(r"\t|(?<!\\)\|")


def cells_of(rows: Json) -> list[list[str]]:
    """Return the cells, each row as wide as the widest. Text beyond the last column is joined to it."""
    lines = rows.splitlines() if isinstance(rows, str) else []
    lines = [line for line in lines if line.strip()][:MOST_ROWS]
    found: list[list[str]] = []
    for line in lines:
        # As in Markdown, a line may begin and end with a bar.
        bare = re.sub(r"^ *\|", "", line)
        bare = re.sub(r"(?<!\\)\| *$", "", bare)
        parts = [part.replace("\\|", "|").strip() for part in _APART.split(bare)]
        kept, more = parts[: MOST_COLUMNS - 1], parts[MOST_COLUMNS - 1 :]
        found.append([*kept, " ".join(more)] if more else kept)
    width = max(map(len, found), default=0)
    return [row + [""] * (width - len(row)) for row in found]


def _is_number(cell: str) -> bool:
    """Return whether a cell is a number, also with a unit: 24 €, 98 %, 1.5 kg."""
    letters = sum(char.isalpha() for char in cell)
    return letters <= _MAX_UNIT_LENGTH and not cell[0].isalpha() and any(map(str.isdigit, cell))


class Table(Module):
    name = "table"
    label = "Table"
    description = "Rows and columns with a caption. Scrolls on narrow screens."
    icon = "layers"
    stylesheet = "cms/modules/table.css"
    ai = AIGuidance(
        layout_roles=("body", "support"),
        use_when=("values that readers look up or compare by row and column",),
        avoid_when=(
            "layout: a table is for data",
            "two or three figures: use statistics",
        ),
        composition_notes=(
            "The first row names the columns with their units. Short cells, one kind of value a column, "
            "at most seven columns. The caption says what is shown and for when."
        ),
    )

    class Props(ModuleProps):
        heading: str = Text(max_length=160)
        caption: str = Text(max_length=300)
        rows: str = Textarea(
            max_length=20_000,
            help=(
                "One line per row, with cells separated by | or a tab, as pasted "
                "from a spreadsheet."
            ),
        )
        header_row: bool = Boolean(default=True, label="First row is a header row")
        header_column: bool = Boolean(label="First column is a header column")
        source: str = Text(max_length=300)

        @field_validator("rows")
        @classmethod
        def _not_endless(cls, value: str) -> str:
            if value.count("\n") >= MOST_ROWS:
                raise ValueError(_("At most %(most)s rows fit.") % {"most": MOST_ROWS})
            return value

    @classmethod
    def template_context(
        cls, props: Mapping[str, Json], context: Mapping[str, object]
    ) -> Mapping[str, object]:
        rows = cells_of(props.get("rows"))
        head = rows[0] if rows and props.get("headerRow") is True else []
        body = rows[1:] if head else rows
        # Columns with only numbers are right-aligned.
        numbers = [
            any(column) and all(_is_number(cell) for cell in column if cell)
            for column in zip(*body, strict=True)
        ]
        return {
            "head": [(cell, bool(numbers) and numbers[at]) for at, cell in enumerate(head)],
            "body": [list(zip(row, numbers, strict=True)) for row in body],
        }

    @classmethod
    def as_markdown(
        cls, props: Mapping[str, Json], media: Media | None = None, *, level: int = 2
    ) -> str:
        rows = cells_of(props.get("rows"))
        if not rows:
            return ""
        title = text(props, "heading")
        return written(
            [
                *([heading(title, level)] if title else []),
                *paragraphs(props.get("caption")),
                {"type": "table", "content": [_row(row, at == 0) for at, row in enumerate(rows)]},
                *paragraphs(props.get("source")),
            ]
        )


def _row(cells: Sequence[str], is_head: bool) -> JsonObject:
    kind = "tableHeader" if is_head else "tableCell"
    return {"type": "tableRow", "content": [_cell(kind, cell) for cell in cells]}


def _cell(kind: str, value: str) -> JsonObject:
    content: list[Json] = [{"type": "text", "text": value}] if value else []
    return {"type": kind, "content": [{"type": "paragraph", "content": content}]}
