"""A field's value, and what agents answer for it, as people read them: with the review's own diffs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agents_app.running.fields import FieldTarget
from content.admin.lookups import found
from content.definitions import ModuleProps
from content.document import PostDocument
from content.review.cards import text_of
from content.review.labels import field_label, module_names, prop_label
from content.review.pieces import Piece, piece_of
from content.review.references import References, Wanted, kind_at
from content.review.summary import Fact, Text, facts, summary
from content.richtext.markdown import from_markdown
from core.json import Json


@dataclass(frozen=True, slots=True)
class Shown:
    """A value beside the one that it would replace."""

    piece: Piece
    summary: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class FieldView:
    """The one field: its name for people, its type, and what ids in its values stand for."""

    label: str
    path: str
    kind: str
    nested: type[ModuleProps] | None
    references: References

    def now(self, value: Json) -> Piece:
        """The value as it stands."""
        return piece_of(self.kind, self.nested, value, value, self.references)

    def change(self, before: Json, after: Json) -> Shown:
        """What the value would become."""
        after = self._read(after)
        old, new = self._words(before), self._words(after)
        piece = piece_of(self.kind, self.nested, before, after, self.references)
        return Shown(piece, summary(old, new), facts(self.path, old, new))

    def _read(self, value: Json) -> Json:
        # Models may answer Markdown for rich text.
        is_markdown = self.kind == "richtext" and isinstance(value, str)
        return from_markdown(value) if is_markdown and isinstance(value, str) else value

    def _words(self, value: Json) -> Text:
        is_document = self.kind != "richtext" or isinstance(value, Mapping)
        return text_of(self.kind, value) if is_document else Text("")


def field_view(target: FieldTarget, document: PostDocument, values: Iterable[Json]) -> FieldView:
    """How to show the values of a field. At most a query for each kind of thing that they name."""
    kind, nested = _shape(target, document)
    wanted = Wanted()
    if kind in wanted.ids:
        for value in values:
            wanted.add(kind, value)
    return FieldView(
        label_of_target(target, document), target.key, kind, nested, references=found(wanted)
    )


def _shape(target: FieldTarget, document: PostDocument) -> tuple[str, type[ModuleProps] | None]:
    if target.module_id is None:
        return kind_at(f"post.{'.'.join(target.path)}", document)
    if len(target.path) == 1:
        return kind_at(f"modules.{target.module_id}.props.{target.path[0]}", document)
    return target.field_type, None


def label_of_target(target: FieldTarget, document: PostDocument) -> str:
    """ "Title", "Hero › Subtitle", "FAQ › Questions 2 › answer"."""
    module = target.module(document)
    if module is None:
        return field_label(document.type, ".".join(target.path))
    first, *rest = target.path
    label = prop_label(module.type, first)
    for part in rest:
        label += f" {int(part) + 1}" if part.isdecimal() else f" › {part}"
    return f"{module_names(document)[module.id]} › {label}"
