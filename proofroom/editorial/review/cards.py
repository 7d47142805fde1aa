"""The cards of a layer with what only a request knows: decisions so far, links to runs and agents."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from django.http import HttpRequest
from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from content.document import PostDocument
from content.layers import Layers, LayerView
from content.layers.digest import fingerprint
from content.layers.state import Mark
from content.models import Layer, Status
from content.posts.reference_titles import references_of
from content.review.cards import ChangeCard, cards_of_layer
from content.review.references import kind_at
from proofroom.editorial.post_editor.form import module_fields, post_sections
from proofroom.editorial.posts.authorship import agent_accounts, is_ais
from proofroom.editorial.posts.panels import (
    FieldAction,
    FieldActions,
    FieldPlace,
    RunView,
    describe_runs,
    field_actions,
)
from proofroom.editorial.review.earlier_rejections import (
    EarlierRejectionNotes,
    load_earlier_rejections,
)


def retry_action(
    path: str,
    kind: str,
    mark: Mark | None,
    *,
    layer: Layer,
    document: PostDocument,
    actions: FieldActions,
) -> FieldAction | None:
    """The link that asks again for what an agent or AI client proposed at `path`; None where nobody can be asked.

    `kind` is that of the change, `document` what AI Review holds: a new proposal goes there, whatever `layer` it is
    asked from.
    """
    if mark is None or not mark.is_ai or kind != "changed":
        return None
    place = _place(path, document, layer, mark.agent_id)
    offered = actions(place) if place is not None else ()
    return next(iter(offered), None)


def _place(path: str, document: PostDocument, layer: Layer, made_by: str) -> FieldPlace | None:
    kind, _nested = kind_at(path, document)
    if path.startswith("post."):
        return FieldPlace(path, kind, retried_in=layer.value, made_by=made_by)
    _, module_id, *rest = path.split(".", 3)
    module = document.module(module_id)
    if module is None or len(rest) < 2:
        return None
    key = f"module.{module.type}.{rest[1]}"
    return FieldPlace(key, kind, module_id, retried_in=layer.value, made_by=made_by)


_DOORS: Final[Mapping[str, Promise]] = {
    "admin": _("in the admin"),
    "api": _("over REST"),
    "mcp": _("by an AI client (MCP)"),
    "agent": _("by an agent's run"),
    "command": _("by a command"),
    "system": _("by the system"),
}
_FAMILIAR: Final[Mapping[str, Promise]] = {"accept": _("Accept"), "reject": _("Reject")}


@dataclass(frozen=True, slots=True)
class Decisions:
    """The marks of a person so far: words by path, the note of each rejection, and what moved since.

    `accepts_safe` accepts what is open still and needs no second look.
    """

    words: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    moved: Collection[str] = ()
    accepts_safe: bool = False


@dataclass(frozen=True, slots=True)
class ReviewCard:
    """A card as it is shown. `decision` is accept, reject or leave; `was` what it was before the change moved.

    `seen` names the change as it stands; `again` asks the agent once more.
    """

    card: ChangeCard
    decision: str
    was: str
    note: str
    seen: str
    door: str
    at: datetime | None
    is_ai: bool
    run: RunView | None
    can_edit: bool
    again: FieldAction | None
    rejected: EarlierRejectionNotes | None
    passages_accepted: Collection[str] = ()
    passages_rejected: Collection[str] = ()

    @property
    def can_ask(self) -> bool:
        return self.again is not None

    @property
    def is_dated(self) -> bool:
        return self.at is not None


@dataclass(frozen=True, slots=True)
class ShownGroup:
    name: str
    cards: tuple[ReviewCard, ...]
    is_locked: bool
    module_id: str

    @property
    def is_module(self) -> bool:
        return bool(self.module_id)


@dataclass(frozen=True, slots=True)
class ShownLayer:
    """All cards, and the runs that proposed them with how many each did."""

    groups: list[ShownGroup]
    runs: list[tuple[RunView, int]]

    @property
    def cards(self) -> list[ReviewCard]:
        return [shown for group in self.groups for shown in group.cards]


@dataclass(frozen=True, slots=True)
class _Known:
    """The data that was looked up for all cards at once."""

    decisions: Decisions
    runs: Mapping[str, RunView]
    agents: set[int]
    seen: Mapping[str, str]
    editable: Collection[str]
    actions: FieldActions
    document: PostDocument
    layer: Layer
    rejected: Mapping[str, EarlierRejectionNotes]


def build_layer_cards(
    request: HttpRequest, layers: Layers, view: LayerView, decisions: Decisions, *, may_edit: bool
) -> ShownLayer:
    """The groups of a layer. At most seven queries, however many changes."""
    references = references_of(view.changes, view.document, view.below)
    is_live = layers.post.status == Status.PUBLISHED
    groups = cards_of_layer(view, references, is_live=is_live)
    marks = [card.mark for group in groups for card in group.cards if card.mark]
    known = _Known(
        decisions,
        describe_runs(request, (mark.run_id for mark in marks)),
        agent_accounts(marks),
        {change.path: fingerprint(change) for change in view.changes},
        editable_paths(view) if may_edit else (),
        field_actions(request, layers.post),
        layers.ai_review.document,
        view.layer,
        load_earlier_rejections(layers.post, view),
    )
    shown = [
        ShownGroup(
            group.name,
            tuple(_shown(card, known) for card in group.cards),
            group.is_locked,
            group.cards[0].module_id,
        )
        for group in groups
    ]
    counts = [(run, sum(mark.run_id == id_ for mark in marks)) for id_, run in known.runs.items()]
    return ShownLayer(shown, counts)


def editable_paths(view: LayerView) -> set[str]:
    """The changed values that have a form: fields, props, and modules that the layer adds."""
    document = view.document
    paths = {unit.path for section in post_sections(document) for unit in section.units}
    for module in document.modules:
        fields = {path for path, _field in module_fields(module)}
        paths |= fields | ({f"modules.{module.id}"} if fields else set())
    return {change.path for change in view.changes if change.path in paths}


def _shown(card: ChangeCard, known: _Known) -> ReviewCard:
    decision, was = known.decisions.words.get(card.path, "leave"), ""
    if card.path in known.decisions.moved:
        decision, was = "leave", str(_FAMILIAR.get(decision, ""))
    elif decision == "leave" and known.decisions.accepts_safe and not card.is_flagged:
        decision = "accept"
    mark = card.mark
    return ReviewCard(
        card,
        decision,
        was,
        known.decisions.notes.get(card.path, ""),
        known.seen.get(card.path, ""),
        str(_DOORS.get(mark.via, mark.via)) if mark else "",
        parse_datetime(mark.at) if mark else None,
        is_ais(mark, known.agents) if mark else False,
        known.runs.get(mark.run_id) if mark else None,
        card.path in known.editable,
        retry_action(
            card.path,
            card.kind,
            mark,
            layer=known.layer,
            document=known.document,
            actions=known.actions,
        ),
        known.rejected.get(card.path),
        *(
            {
                passage.name
                for passage in card.passages
                if known.decisions.words.get(passage.name) == word
                and card.path not in known.decisions.moved
            }
            for word in ("accept", "reject")
        ),
    )


def layer_label(layer: str) -> str:
    return str(_("Review") if layer == Layer.REVIEW else _("AI Review"))
