"""The cards of a layer with data of the request: decisions, links to runs and agents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from django.http import HttpRequest
from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from content.comparison.change_comparison import kind_at
from content.comparison.references import references_of
from content.document.document import PostDocument
from content.inbox.rows import read_judgements
from content.layers import Layers, LayerView
from content.models import Layer, Status
from content.presenters.cards import ChangeCard, cards_of_layer
from content.store.digest import digest_of_fingerprints, fingerprint
from proofroom.core.admin.permissions import actor_of
from proofroom_apps.editorial.post_editor.form import module_fields, post_sections
from proofroom_apps.editorial.post_editor.origins import find_agent_accounts, is_by_ai
from proofroom_apps.editorial.posts.authors import client_names, door_label
from proofroom_apps.editorial.posts.extensions import (
    FieldAction,
    FieldActions,
    FieldPlace,
    RunView,
    describe_runs,
    field_actions,
)
from proofroom_apps.editorial.posts.rejections import (
    EarlierRejectionNotes,
    load_earlier_rejections,
)
from proofroom_apps.editorial.review.source_text import (
    SourceText,
    source_texts,
    without_agreeing_facts,
)
from proofroom_apps.reviewers.advice import advice_by_path
from proofroom_apps.reviewers.models import ReviewerAdvice, ReviewerLink

_DECISION_LABELS: Final[Mapping[str, Promise]] = {"accept": _("Accept"), "reject": _("Reject")}


@dataclass(frozen=True, slots=True)
class Decisions:
    """The user's decisions: accept or reject by path, notes of rejections, and paths that changed since.

    `accepts_safe` accepts all undecided changes that are safe.
    """

    by_path: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    moved: Collection[str] = ()
    accepts_safe: bool = False


@dataclass(frozen=True, slots=True)
class ReviewCard:
    """A card for the template.

    `decision` is accept, reject or leave; `was` is the decision before the change was modified.

    `seen` identifies the shown state of the change; `again` asks the agent again; `source` is set for a translation.
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
    source: SourceText | None = None
    advice: Sequence[ReviewerAdvice] = ()

    @property
    def can_ask(self) -> bool:
        return self.again is not None

    @property
    def is_dated(self) -> bool:
        return self.at is not None


@dataclass(frozen=True, slots=True)
class ReviewGroup:
    """The cards of a module, or of the post's own fields."""

    name: str
    cards: tuple[ReviewCard, ...]
    is_locked: bool
    module_id: str

    @property
    def is_module(self) -> bool:
        return bool(self.module_id)


@dataclass(frozen=True, slots=True)
class ReviewLayer:
    """All cards, the runs that proposed them with the number of changes, and the token of the shown state."""

    groups: list[ReviewGroup]
    runs: list[tuple[RunView, int]]
    digest: str

    @property
    def cards(self) -> list[ReviewCard]:
        return [shown for group in self.groups for shown in group.cards]


@dataclass(frozen=True, slots=True)
class CardBuilder:
    """Builds the cards of a layer from data loaded for all of them.

    `document` is the content of AI Review: a new proposal goes there from any layer.
    """

    decisions: Decisions
    runs: Mapping[str, RunView]
    agents: set[int]
    seen: Mapping[str, str]
    editable: Collection[str]
    actions: FieldActions
    document: PostDocument
    layer: Layer
    rejected: Mapping[str, EarlierRejectionNotes]
    clients: Mapping[str, str]
    sources: Mapping[str, SourceText]
    advice: Mapping[str, Sequence[ReviewerAdvice]]

    def build(self, card: ChangeCard) -> ReviewCard:
        path, mark, decided = card.path, card.mark, self.decisions.by_path
        has_moved = path in self.decisions.moved
        decision, was = decided.get(path, "leave"), ""
        # The decision was about a state that no longer exists, so the user has to decide again.
        if has_moved:
            decision, was = "leave", str(_DECISION_LABELS.get(decision, ""))
        elif decision == "leave" and self.decisions.accepts_safe and not card.is_flagged:
            decision = "accept"
        passages = [] if has_moved else [passage.name for passage in card.passages]
        source = self.sources.get(path)
        return ReviewCard(
            card if source is None else without_agreeing_facts(card),
            decision,
            was,
            self.decisions.notes.get(path, ""),
            self.seen.get(path, ""),
            door_label(mark.via, self.clients.get(mark.principal, "")) if mark else "",
            parse_datetime(mark.at) if mark else None,
            is_by_ai(mark, self.agents) if mark else False,
            self.runs.get(mark.run_id) if mark else None,
            path in self.editable,
            self.retry_action(card),
            self.rejected.get(path),
            {name for name in passages if decided.get(name) == "accept"},
            {name for name in passages if decided.get(name) == "reject"},
            source,
            self.advice.get(path, ()),
        )

    def retry_action(self, card: ChangeCard) -> FieldAction | None:
        """Return the link that asks again for a proposal of an agent or AI client, or None if none can be asked."""
        path, mark = card.path, card.mark
        if mark is None or not mark.is_ai or card.kind != "changed":
            return None
        kind, _nested = kind_at(path, self.document)
        key, module_id = path, ""
        if not path.startswith("post."):
            _, module_id, *rest = path.split(".", 3)
            module = self.document.module(module_id)
            if module is None or len(rest) < 2:
                return None
            key = f"module.{module.type}.{rest[1]}"
        place = FieldPlace(key, kind, module_id, retried_in=self.layer.value, made_by=mark.agent_id)
        return next(iter(self.actions(place)), None)


def build_layer_cards(
    request: HttpRequest,
    layers: Layers,
    view: LayerView,
    decisions: Decisions,
    *,
    may_edit: bool,
    reviewer_links: Iterable[ReviewerLink] = (),
) -> ReviewLayer:
    """Return the groups of a layer. At most ten queries; one more for a translation."""
    references = references_of(view.changes, view.document, view.below, who=actor_of(request))
    is_live = layers.post.status == Status.PUBLISHED
    judgements = read_judgements(layers.post, view)
    groups = cards_of_layer(view, references, judgements, is_live=is_live)
    marks = [card.mark for group in groups for card in group.cards if card.mark]
    seen = {change.path: fingerprint(change) for change in view.changes}
    builder = CardBuilder(
        decisions,
        describe_runs(request, (mark.run_id for mark in marks)),
        find_agent_accounts(marks),
        seen,
        editable_paths(view) if may_edit else (),
        field_actions(request, layers.post),
        layers.ai_review.document,
        view.layer,
        load_earlier_rejections(layers.post, view),
        client_names((mark.principal for mark in marks), actor_of(request)),
        source_texts(layers.post, view, actor_of(request)),
        advice_by_path(reviewer_links, seen),
    )
    shown = [
        ReviewGroup(
            group.name,
            tuple(builder.build(card) for card in group.cards),
            group.is_locked,
            group.cards[0].module_id,
        )
        for group in groups
    ]
    counts = [(run, sum(mark.run_id == id_ for mark in marks)) for id_, run in builder.runs.items()]
    return ReviewLayer(shown, counts, digest_of_fingerprints(builder.seen))


def editable_paths(view: LayerView) -> set[str]:
    """Return the changed values that have a form: fields, props, and modules that the layer adds."""
    document = view.document
    paths = {unit.path for section in post_sections(document) for unit in section.units}
    for module in document.modules:
        fields = {path for path, _field in module_fields(module)}
        paths |= fields | ({f"modules.{module.id}"} if fields else set())
    return {change.path for change in view.changes if change.path in paths}
