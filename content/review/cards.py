"""Changes as cards: what changes, in which words, what to look at, who proposed it. Pure: no queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.changes import ABSENT, Change, Changes, value_at
from content.definitions import modules, props_of
from content.definitions.words import words_of
from content.document import ModuleDocument, PostDocument
from content.layers import LayerView
from content.layers.marks import Mark, Marks, mark_of
from content.review.labels import POST_GROUP, label_of, module_names
from content.review.pieces import Piece, piece_of
from content.review.references import References, kind_at
from content.review.structure import moved, whole_module
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
        return bool(self.flagged_by)

    @property
    def flagged_by(self) -> str:
        """`hand` where somebody else was here too, `fact` where what it says changed, else empty."""
        return "hand" if self.flags else "fact" if self.has_loud_facts else ""

    @property
    def has_loud_facts(self) -> bool:
        return any(fact.is_loud for fact in self.facts)

    @property
    def short(self) -> str:
        """The label without the module's name, for a list below that name."""
        return self.label.rpartition(" › ")[2]

    @property
    def is_in_module(self) -> bool:
        return self.path.startswith("modules.")

    @property
    def module_id(self) -> str:
        return self.path.split(".", 2)[1] if self.is_in_module else ""


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
    marks: Marks,
    drifted: frozenset[str],
    layer: str,
) -> list[Group]:
    names = module_names(after, before)
    groups: dict[str, Group] = {}
    for change in changes:
        module_id = change.module_id
        name = names.get(module_id, _("Module")) if module_id else str(POST_GROUP)
        module = (after.module(module_id) or before.module(module_id)) if module_id else None
        group = groups.setdefault(
            module_id or "", Group(name, is_locked=bool(module and module.locked))
        )
        mark = mark_of(marks, change.path)
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
        piece = Piece("words", after=moved(change, after, names))
    elif isinstance(change.after, ModuleDocument) or isinstance(change.before, ModuleDocument):
        piece = whole_module(change, after, names, references)
        chips = _module_facts(change, after.locale)
        label = str(_HEADINGS[change.kind]) % {"module": label}
    else:
        was = _effective(change, before)
        kind, nested = kind_at(change.path, where)
        piece = piece_of(kind, nested, was, change.after, references)
        if change.path != "post.slug":  # part of an address: its digits are no facts
            old, new = text_of(kind, was), text_of(kind, change.after)
            words = summary(old, new, after.locale)
            chips = (
                *facts(change.path, old, new, after.locale),
                *_of_kind(kind, was, change.after),
            )
    flags = tuple(_flags(mark, is_drifted, layer))
    return Card(change.path, change.kind, label, piece, words, chips, flags, mark)


_HEADINGS: Final[Mapping[str, Promise]] = {
    "added": gettext_lazy("New module: %(module)s"),
    "removed": gettext_lazy("Module removed: %(module)s"),
    "replaced": gettext_lazy("Module replaced: %(module)s"),
}


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


_FIGURES: Final = frozenset({"number", "date", "moment"})


def _of_kind(kind: str, before: object, after: object) -> tuple[Fact, ...]:
    """What a change of such a field is as a whole."""
    old, new = (_shown(value) for value in (before, after))
    if old == new:
        return ()
    if kind == "media":
        return (Fact("image", _("Image changed")),)
    if kind == "json":
        return (Fact("setting", _("Setting changed")),)
    if kind in _FIGURES:
        words = _("%(old)s → %(new)s") % {"old": old or "–", "new": new or "–"}
        return (Fact("number" if kind == "number" else "date", words),)
    return ()


def _shown(value: object) -> str:
    return "" if value is None or value is ABSENT else str(value)


def _module_facts(change: Change, language: str) -> tuple[Fact, ...]:
    """A module that goes is never a small thing; one that comes has the facts of its words."""
    if change.kind != "added":
        return (Fact("structure", _("A whole module goes")),)
    new = change.after
    return facts(
        "", Text(""), _text_in(new) if isinstance(new, ModuleDocument) else Text(""), language
    )


def _text_in(module: ModuleDocument) -> Text:
    definition = modules.get(module.type)
    values = {**module.props, **module.overrides}
    props = props_of(definition.Props).values() if definition else ()
    texts = [text_of(prop.kind, values.get(prop.name)) for prop in props]
    return Text(
        "\n".join(text.words for text in texts),
        tuple(link for text in texts for link in text.links),
        tuple(image for text in texts for image in text.images),
    )


def _flags(mark: Mark | None, is_drifted: bool, layer: str) -> list[Flag]:
    flags = []
    if mark is not None and mark.conflict:
        text = _(
            "A person staged another value here in Review. That one stays unless you reject it there; "
            "this one waits."
        )
        flags.append(Flag("conflict", text))
    if is_drifted or (mark is not None and mark.drifted):
        flags.append(Flag("drift", _drift(layer)))
    return flags


def _drift(layer: str) -> str:
    if layer == "ai-review":
        return _(
            "Since this was proposed, Review changed here too. Accepting replaces that newer value; "
            "the left side below is what stands now."
        )
    return _(
        "Since this was proposed, the live text changed here too. Accepting replaces that newer value; "
        "the left side below is what stands now."
    )
