"""Changes as cards: what changes, in which words, what to look at, who proposed it. Pure: no queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from content.changes import ABSENT, Change, Changes, value_at
from content.definitions import modules
from content.definitions.words import words_of
from content.document import ModuleDocument, PostDocument
from content.layers import LayerView
from content.layers.marks import Mark, mark_of
from content.review.labels import POST_GROUP, label_of, module_label, module_names
from content.review.pieces import Piece, piece_of, rows_of
from content.review.references import References, kind_at
from content.review.summary import Fact, Text, addresses, facts, summary
from content.richtext.text import to_text


@dataclass(frozen=True, slots=True)
class Flag:
    """A warning on a card: `conflict`, `drift`, `locked` or `moved`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Card:
    """One change to decide on; `path` names its radio group."""

    path: str
    kind: str
    label: str
    piece: Piece
    summary: str = ""
    facts: tuple[Fact, ...] = ()
    flags: tuple[Flag, ...] = ()
    mark: Mark | None = None

    @property
    def is_flagged(self) -> bool:
        """Whether a careful reader looks twice: a fact, link or image changed, or somebody else was here too."""
        return bool(self.flags) or any(fact.is_loud for fact in self.facts)


@dataclass(slots=True)
class Group:
    """The cards of the post's fields, or of one module."""

    name: str
    cards: list[Card] = field(default_factory=list)
    is_locked: bool = False


def cards_of_layer(view: LayerView, references: References) -> list[Group]:
    """The cards of a layer, with who wrote each and what moved below it."""
    return _grouped(
        view.below, view.document, view.changes, references, view.marks, view.drifted, view.layer
    )


def cards_between(
    before: PostDocument, after: PostDocument, changes: Changes, references: References
) -> list[Group]:
    """The cards that lead from one document to another."""
    return _grouped(before, after, changes, references, {}, frozenset(), "")


def _grouped(
    before: PostDocument,
    after: PostDocument,
    changes: Iterable[Change],
    references: References,
    marks: Mapping[str, Mark],
    drifted: frozenset[str],
    layer: str,
) -> list[Group]:
    names = module_names(after, before)
    groups: dict[str, Group] = {}
    for change in changes:
        module_id = change.module_id
        name = names.get(module_id, "Module") if module_id else POST_GROUP
        module = (after.module(module_id) or before.module(module_id)) if module_id else None
        group = groups.setdefault(
            module_id or "", Group(name, is_locked=bool(module and module.locked))
        )
        mark = mark_of(dict(marks), change.path)
        group.cards.append(
            _card(change, before, after, names, references, mark, change.path in drifted, layer)
        )
    return list(groups.values())


def _card(
    change: Change,
    before: PostDocument,
    after: PostDocument,
    names: Mapping[str, str],
    references: References,
    mark: Mark | None,
    is_drifted: bool,
    layer: str,
) -> Card:
    where = after if change.module_id is None or after.module(change.module_id) else before
    label = label_of(change.path, where, names)
    words = ""
    chips: tuple[Fact, ...] = ()
    if change.kind == "moved":
        piece = Piece("words", after=_moved(change, after, names))
    elif isinstance(change.after, ModuleDocument) or isinstance(change.before, ModuleDocument):
        piece = _module(change, after, names, references)
        label = f"{_VERBS[change.kind]}: {label}"
    else:
        was = _effective(change, before)
        kind, nested = kind_at(change.path, where)
        piece = piece_of(kind, nested, was, change.after, references)
        if change.path != "post.slug":  # part of an address: its digits are no facts
            old, new = text_of(kind, was), text_of(kind, change.after)
            words, chips = summary(old, new), facts(change.path, old, new)
    flags = tuple(_flags(mark, is_drifted, layer))
    return Card(change.path, change.kind, label, piece, words, chips, flags, mark)


_VERBS = {"added": "New module", "removed": "Module removed", "replaced": "Module replaced"}


def _effective(change: Change, document: PostDocument) -> object:
    """What an override replaces: the module's own value where it had no override before."""
    if change.before is ABSENT and ".overrides." in change.path:
        return value_at(document, change.path.replace(".overrides.", ".props."))
    return change.before


def text_of(kind: str, value: object) -> Text:
    """A value of a field type as words, with the addresses that it names."""
    if value is ABSENT or value is None:
        return Text("")
    if kind == "richtext":
        links, images = addresses(value)
        return Text(to_text(value), links, images)
    if kind in ("text", "textarea"):
        return Text(str(value))
    if kind in ("link", "url"):
        return Text("", (str(value),) if value else ())
    if kind in ("repeater", "object"):
        return Text("\n".join(words_of(None, value)))
    return Text("")


def _moved(change: Change, after: PostDocument, names: Mapping[str, str]) -> str:
    before, now = change.before, change.after
    if not isinstance(before, int) or not isinstance(now, int):
        return "Moved"
    places = abs(now - before)
    text = f"Moved {'down' if now > before else 'up'} {places} place{'' if places == 1 else 's'}"
    if before == now:
        text = "Changed its place among the others"
    return f"{text}; now {_place(after, now, names)}"


def _place(document: PostDocument, at: int, names: Mapping[str, str]) -> str:
    return f"after {names[document.order[at - 1]]}" if 0 < at <= len(document.order) else "first"


def _module(
    change: Change, after: PostDocument, names: Mapping[str, str], references: References
) -> Piece:
    old, new = _values(change.before), _values(change.after)
    module = change.after if isinstance(change.after, ModuleDocument) else change.before
    assert isinstance(module, ModuleDocument)  # noqa: S101  # the caller looked
    definition = modules.get(module.type)
    note = ""
    if change.kind == "added":
        note = f"{module_label(module.type)}, {_place(after, after.order.index(module.id), names)}"
    if module.scope == "global":
        note += (
            f". Shared module “{module.global_slug}”; only its overrides for this post are listed."
        )
    if definition is None:
        return piece_of("json", None, old, new, references)
    rows = rows_of(definition.Props, old, new, references)
    return Piece("rows", rows=tuple(rows), note=note)


def _values(value: object) -> dict[str, object] | None:
    return {**value.props, **value.overrides} if isinstance(value, ModuleDocument) else None


def _flags(mark: Mark | None, is_drifted: bool, layer: str) -> list[Flag]:
    flags = []
    if mark is not None and mark.conflict:
        flags.append(
            Flag(
                "conflict",
                "A person staged another value here in Review. That one stays unless you reject it there; "
                "this one waits.",
            )
        )
    if is_drifted or (mark is not None and mark.drifted):
        below = "Review" if layer == "ai-review" else "the live text"
        flags.append(
            Flag(
                "drift",
                f"Since this was proposed, {below} changed here too. Accepting replaces that newer value; "
                "the left side below is what stands now.",
            )
        )
    return flags
