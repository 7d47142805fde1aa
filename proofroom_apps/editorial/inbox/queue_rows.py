"""Rows of the queue for templates: places, risks, reasons and ages in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.comparison.references import ReferenceIds, load_titles
from content.document.labels import field_label, module_label, prop_label, type_label
from content.inbox.rows import from_json, rules_of
from content.models import DecisionItem, Layer, Post, QueuedChange, Status
from content.presenters.cards import ShownLine, lines_of
from content.store.publish_permissions import APPROVE_AND_PUBLISH
from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.agent_directory import agent_name
from proofroom.core.i18n.ages import age_of
from proofroom_apps.editorial.posts.authors import author_label, client_names
from proofroom_apps.editorial.posts.extensions import RunView, describe_runs
from proofroom_apps.editorial.posts.post_pages import post_urls, title_of
from proofroom_apps.editorial.posts.rejections import rejection_reasons

_LINES_SHOWN: Final = 3
"""Number of lines of a change that a list shows unfolded."""
RISKS: Final[dict[int, Promise]] = {
    3: gettext_lazy("High risk"),
    2: gettext_lazy("Medium risk"),
    1: gettext_lazy("Low risk"),
}
AGES: Final[dict[str, Promise]] = {
    "day": gettext_lazy("Last 24 hours"),
    "week": gettext_lazy("Last 7 days"),
    "month": gettext_lazy("Last 30 days"),
    "older-week": gettext_lazy("Older than 7 days"),
    "older-month": gettext_lazy("Older than 30 days"),
}
LAYERS: Final = {"ai-review": gettext_lazy("AI Review"), "review": gettext_lazy("Review")}
FLAG_LABELS: Final[dict[str, Promise]] = {
    "conflict": gettext_lazy("conflicts with a person’s change"),
    "drifted": gettext_lazy("changed in the meantime"),
    "edited": gettext_lazy("edited by a person"),
    "removed": gettext_lazy("removal"),
    "characters": gettext_lazy("hidden or look-alike characters"),
    "price": gettext_lazy("price"),
    "negation": gettext_lazy("negation"),
    "host": gettext_lazy("another host"),
    "opposite": gettext_lazy("opposite"),
    "modality": gettext_lazy("obligation"),
    "number-word": gettext_lazy("number in words"),
    "quantity": gettext_lazy("quantity"),
    "claim": gettext_lazy("claim"),
    "number": gettext_lazy("number"),
    "date": gettext_lazy("date"),
    "name": gettext_lazy("name"),
    "link": gettext_lazy("link"),
    "image": gettext_lazy("image"),
    "embed": gettext_lazy("embedded page"),
    "reference": gettext_lazy("reference"),
    "slug": gettext_lazy("page address"),
    "seo": gettext_lazy("search engines"),
    "structured-data": gettext_lazy("structured data"),
    "module": gettext_lazy("module"),
    "choice": gettext_lazy("setting"),
    "boolean": gettext_lazy("yes or no"),
    "mark": gettext_lazy("formatting"),
    "code": gettext_lazy("code"),
    "structure": gettext_lazy("structure"),
    "new-text": gettext_lazy("new text"),
    "rewording": gettext_lazy("rewording"),
    "moved": gettext_lazy("moved"),
    "length": gettext_lazy("length"),
    "language": gettext_lazy("another language"),
    "ungrounded": gettext_lazy("not in the post, its sources or the site"),
    "source-mismatch": gettext_lazy("does not match the source"),
}


def risk_word(risk: int) -> str:
    return str(RISKS[min(max(risk, 1), 3)])


def flag_labels(flags: Iterable[str]) -> list[str]:
    """Return the labels of the flags."""
    return [str(FLAG_LABELS.get(flag, flag)) for flag in flags]


def place_of(row: QueuedChange | DecisionItem) -> str:
    """Return the place of a change: "Meta description", "Hero › Title", "New module: Prose"."""
    if not row.subject.startswith("module."):
        return field_label(row.post.type if row.post else "", row.subject.removeprefix("post."))
    _module, type_name, *rest = row.subject.split(".", 2)
    name = module_label(type_name)
    if row.kind == "added":
        return _("New module: %(name)s") % {"name": name}
    if row.kind == "removed":
        return _("Module removed: %(name)s") % {"name": name}
    if row.kind == "replaced":
        return _("Module replaced: %(name)s") % {"name": name}
    if row.kind == "moved":
        return _("%(name)s › Position") % {"name": name}
    return f"{name} › {prop_label(type_name, rest[0])}" if rest else name


@dataclass(frozen=True, slots=True)
class Rights:
    """The rights of a person in the inbox."""

    submit: bool
    approve: bool
    reject: bool
    publish: bool = False

    @classmethod
    def of(cls, request: HttpRequest) -> Rights:
        approves = may(request, "posts.review.approve")
        submits = may(request, "posts.ai-review.approve")
        needed = APPROVE_AND_PUBLISH[Layer.AI_REVIEW]
        publishes = all(may(request, permission) for permission in needed)
        # Rejecting takes the right to approve in Review, in both layers.
        return cls(submits, approves, approves, publishes)

    def take(self, layer: str) -> bool:
        return self.submit if layer == Layer.AI_REVIEW else self.approve

    @property
    def any(self) -> bool:
        return self.submit or self.approve or self.reject


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A waiting change. `word` is its mark: accept, reject or empty."""

    row: QueuedChange
    post: Post
    title: str
    url: str
    post_url: str
    type: str
    place: str
    shown: tuple[ShownLine, ...]
    risk: int
    risk_word: str
    reasons: tuple[str, ...]
    who: str
    run: RunView | None
    may_take: bool
    may_reject: bool
    word: str

    @property
    def name(self) -> str:
        """Name of the form field for its decision: the row, and its seen content."""
        return name_of(self.row)

    @property
    def layer(self) -> str:
        return self.row.layer

    @property
    def is_proposed(self) -> bool:
        return self.post.is_placeholder

    @property
    def is_unpublished(self) -> bool:
        """True if its post is not published, so that visitors don't see it after approval."""
        return self.post.status != Status.PUBLISHED

    @property
    def at(self) -> datetime:
        return self.row.at

    @property
    def age(self) -> str:
        return age_of(self.row.at)

    @property
    def first(self) -> tuple[ShownLine, ...]:
        return self.shown[:_LINES_SHOWN]

    @property
    def more(self) -> tuple[ShownLine, ...]:
        """Lines that are folded in a list."""
        return self.shown[_LINES_SHOWN:]

    @property
    def is_cut(self) -> bool:
        """True if the stored lines leave out a part of the difference."""
        return not self.row.is_whole

    @property
    def must_be_opened(self) -> bool:
        """True if it cannot be accepted from a list: it is not safe, or not shown completely."""
        return self.risk > 1 or self.is_cut

    @property
    def reject_name(self) -> str:
        """Name of the form field for its rejection, if it cannot be accepted."""
        return reject_name_of(self.row)


def author_of(row: QueuedChange, run: RunView | None, clients: Mapping[str, str]) -> str:
    """Return the author of a change. `clients` is from `client_names`."""
    name = run.agent if run else agent_name(row.agent_id) or row.author_name
    return author_label(name, row.via, clients.get(row.principal, ""))


def name_of(row: QueuedChange) -> str:
    return f"d.{row.pk}.{row.seen}"


def reject_name_of(row: QueuedChange) -> str:
    # Another name, since `read_marks` accepts only rejections under it.
    return f"x.{row.pk}.{row.seen}"


def build_queue_rows(
    request: HttpRequest,
    rows: Iterable[QueuedChange],
    *,
    words: dict[str, str] | None = None,
) -> list[QueueRow]:
    """Return the rows for the template. `rows` are from `join_posts`, `words` are decisions by field name.

    One query for runs, one for rejections, at most two for the names of AI clients, and one for each kind of
    referenced object.
    """
    listed = list(rows)
    comparisons = [from_json(row.pieces) for row in listed]
    wanted = ReferenceIds()
    for comparison in comparisons:
        wanted.add_differences(comparison.differences)
    references = load_titles(wanted, actor_of(request))
    runs = describe_runs(request, (row.run_id for row in listed))
    clients = client_names((row.principal for row in listed), actor_of(request))
    rights = Rights.of(request)
    rejected = rejection_reasons(listed)
    decisions = words or {}
    review_of, editor_of = post_urls("review"), post_urls("change")
    found = []
    for row, comparison in zip(listed, comparisons, strict=True):
        run, post = runs.get(row.run_id), row.post
        found.append(
            QueueRow(
                row=row,
                post=post,
                title=title_of(post, row),
                url=f"{review_of(post.pk)}?layer={row.layer}#c-{row.path}",
                post_url=editor_of(post.pk),
                type=type_label(post.type),
                place=place_of(row),
                shown=lines_of(comparison, references),
                risk=row.weight,
                risk_word=risk_word(row.weight),
                reasons=(
                    *(rule.label for rule in rules_of(row)),
                    *flag_labels(row.flags),
                    *rejected.get(row.pk, ()),
                ),
                who=author_of(row, run, clients),
                run=run,
                may_take=rights.take(row.layer),
                may_reject=rights.reject,
                word=decisions.get(name_of(row)) or decisions.get(reject_name_of(row), ""),
            )
        )
    return found
