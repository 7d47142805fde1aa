"""A field's value and agents' answers for it as readable text, with the diffs of the review pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agents_app.runs.field_target import FieldTarget
from content.comparison.change_comparison import shape_at
from content.comparison.comparison import ValueShape, compare
from content.comparison.difference_text import length_note, summarize
from content.comparison.references import ReferenceIds, References, load_titles
from content.document.document import PostDocument
from content.document.labels import field_label, module_names, prop_label
from content.presenters.cards import DiffStretch, fold_lines, lines_of, lines_of_value
from proofroom.core.content_scope import Scoped
from proofroom.core.json import Json
from proofroom.definitions.richtext.markdown_reader import from_markdown


@dataclass(frozen=True, slots=True)
class ShownFieldValue:
    """A value compared with the one it would replace."""

    stretches: Sequence[DiffStretch]
    summary: str
    length: str


@dataclass(frozen=True, slots=True)
class FieldView:
    """How to show the values of one field: its label, type, and the titles of referenced objects."""

    label: str
    path: str
    shape: ValueShape
    language: str
    references: References

    def now(self, value: Json) -> list[DiffStretch]:
        """Return the current value."""
        return fold_lines(lines_of_value(value, self.shape, self.references))

    def change(self, before: Json, after: Json) -> ShownFieldValue:
        """Return the difference between two values."""
        after = self._read(after)
        found = compare(before, after, self.shape, language=self.language)
        return ShownFieldValue(
            fold_lines(lines_of(found, self.references)),
            summarize(found),
            length_note(self.path, before, after),
        )

    def _read(self, value: Json) -> Json:
        # Models may answer Markdown for rich text.
        is_markdown = self.shape.kind == "richtext" and isinstance(value, str)
        return from_markdown(value) if is_markdown and isinstance(value, str) else value


def field_view(
    target: FieldTarget, document: PostDocument, values: Iterable[Json], who: Scoped
) -> FieldView:
    """Return the view of a field. At most one query for each kind of referenced object."""
    if target.module_id is None:
        shape = shape_at(f"post.{'.'.join(target.path)}", document)
    elif len(target.path) == 1:
        shape = shape_at(f"modules.{target.module_id}.props.{target.path[0]}", document)
    else:
        shape = ValueShape(target.field_type)
    wanted = ReferenceIds()
    if shape.kind in wanted.ids:
        for value in values:
            wanted.add(shape.kind, value)
    return FieldView(
        label_of_target(target, document),
        target.key,
        shape,
        document.locale,
        references=load_titles(wanted, who),
    )


def label_of_target(target: FieldTarget, document: PostDocument) -> str:
    """Return a label such as "Title", "Hero › Subtitle" or "FAQ › Questions 2 › answer"."""
    module = target.module(document)
    if module is None:
        return field_label(document.type, ".".join(target.path))
    first, *rest = target.path
    label = prop_label(module.type, first)
    for part in rest:
        label += f" {int(part) + 1}" if part.isdecimal() else f" › {part}"
    return f"{module_names(document)[module.id]} › {label}"
