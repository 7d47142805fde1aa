"""Inbox rows: derived from the drafts and updated in the same transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.comparison.findings import Findings
from content.comparison.risk import Level, Risk
from content.document.changes import Change
from content.document.differences import (
    Comparison,
    Difference,
    DifferenceKind,
    DiffLine,
    ReferenceKind,
    Segment,
    SegmentKind,
    ShownReference,
    Side,
    Status,
    side_to_json,
)
from content.inbox.judgement import JudgedChange, Judgement, judge
from content.layers import LayerView
from content.models import Draft, Post, QueuedChange
from content.post_checks.proposals import BrokenRule
from content.store.digest import fingerprint, keyed_hash, value_hash
from content.store.layer_state import Attribution, mark_of, open_layers_of_many
from proofroom.core.database.compiled_queries import Update
from proofroom.core.diagnostics.doctor import CheckResult
from proofroom.core.json import Json, JsonObject

_ROWS_VERSION: Final = 5
"""Version of the rows. Increase it when equal changes would get different rows: then all rows are rebuilt."""
_MARK_LENGTH: Final = 8
_NOBODY: Final = Attribution(user_id=None, user="", via="", at="")
_BATCH: Final = 100
_COLUMNS: Final = [
    field.name
    for field in QueuedChange._meta.concrete_fields
    if field.name not in ("id", "draft", "path")
]
SHORT_VALUE_LENGTH: Final = 300
"""Maximum number of characters of a removed or added text that a list shows completely."""
MAX_EXCERPT_LENGTH: Final = 2_000
"""Maximum number of characters shown of such a text."""
MAX_EXCERPT_LINES: Final = 120
_WORDS_AROUND: Final = 8
"""Number of unchanged words shown before and after a change."""
_FORGET: Final = Update(
    lambda post_id, layers: (
        QueuedChange.objects.filter(post_id=post_id, layer__in=layers).order_by(),
        None,
    )
)
_CHARACTERS_AROUND: Final = 60
"""Same as `_WORDS_AROUND` in characters, for scripts without spaces."""


def row_state_prefix() -> str:
    """Return the prefix of current row states. It changes with the secret key and with `_ROWS_VERSION`."""
    return keyed_hash("rows", _ROWS_VERSION)[:_MARK_LENGTH]


def states_of(view: LayerView) -> dict[str, str]:
    """Return a hash of the inputs of each row by path. Much cheaper than building the row."""
    begin = row_state_prefix()
    found: dict[str, str] = {}
    for change in view.changes:
        mark = mark_of(view.marks, change.path)
        author_values: list[str | int | bool | None] = []
        if mark is not None:
            author_values = [
                mark.user_id,
                mark.user,
                mark.via,
                mark.at,
                mark.principal,
                mark.agent_id,
            ]
            author_values += [mark.run_id, mark.edited_by, mark.conflict, mark.reason]
        state = keyed_hash(fingerprint(change), author_values, change.path in view.drifted)
        found[change.path] = begin + state[_MARK_LENGTH:]
    return found


def build_row(
    post: Post,
    view: LayerView,
    draft: Draft,
    judged: JudgedChange,
    state: str,
) -> QueuedChange:
    """Return the unsaved row of one change."""
    change, comparison, judgement = judged.change, judged.comparison, judged.judgement
    by = mark_of(view.marks, change.path) or _NOBODY
    shortened, is_whole = excerpt(comparison.with_findings(judgement.findings.found))
    return QueuedChange(
        draft=draft,
        post=post,
        layer=view.layer,
        path=change.path,
        kind=change.kind,
        subject=subject_of(view, change),
        risk=judgement.draft.level,
        risk_live=judgement.live.level,
        flags=list(judgement.live.flags),
        weight=judgement.risk(post.status).level,
        rank=judgement.live.rank,
        findings=judgement_to_json(judgement),
        is_ai=by.is_ai,
        author_account=by.user_id,
        author_name=by.user,
        edited_by_name=by.edited_by,
        agent_id=by.agent_id,
        run_id=by.run_id,
        via=by.via,
        principal=by.principal,
        reason=by.reason,
        at=parse_datetime(by.at) or timezone.now() if by.at else draft.updated_at,
        pieces=to_json(shortened),
        is_whole=is_whole,
        like=similarity_key(view, change, by, comparison),
        proposed=value_hash(change.after),
        seen=fingerprint(change),
        state=state,
    )


def read_judgements(post: Post, view: LayerView) -> dict[str, Judgement]:
    """Return the stored judgements of a layer's changes by path.

    One query. A change with a missing or outdated row is judged now.
    """
    if not view.exists:
        return {}
    states = states_of(view)
    rows = QueuedChange.objects.filter(post=post, layer=view.layer)
    found: dict[str, Judgement] = {}
    for row in rows.only("path", "state", "risk", "risk_live", "flags", "findings"):
        if states.get(row.path) == row.state:
            found[row.path] = stored_judgement(row)
    missing = [change for change in view.changes if change.path not in found]
    for judged in judge(post, view, missing) if missing else ():
        found[judged.change.path] = judged.judgement
    return found


def stored_judgement(row: QueuedChange) -> Judgement:
    """Return the judgement stored in a row. No query."""
    flags = tuple(row.flags)
    draft, live = (Risk(cast(Level, level), flags) for level in (row.risk, row.risk_live))
    return Judgement(findings_from_json(row.findings), draft, live, rules_of(row))


def rules_of(row: QueuedChange) -> tuple[BrokenRule, ...]:
    """Return the broken rules stored in a row. No query."""
    stored = cast("list[JsonObject]", row.findings.get("rules", []))
    return tuple(map(BrokenRule.from_json, stored))


def similarity_key(view: LayerView, change: Change, by: Attribution, comparison: Comparison) -> str:
    """Return a key that similar changes share: equal differences, ignoring places, and the same kind of origin."""
    who = by.agent_id or [by.user_id, by.user]
    author_values = [by.via, by.principal, who, bool(by.run_id), bool(by.edited_by), by.conflict]
    differences = [one.content for one in comparison.differences]
    return keyed_hash(view.layer, author_values, change.kind, differences)


def subject_of(view: LayerView, change: Change) -> str:
    """Return the path of a change, with the module type instead of its id."""
    if change.module_id is None:
        return change.path[:200]
    is_there = view.document.module(change.module_id) is not None
    module = (view.document if is_there else view.below).module(change.module_id)
    rest = change.path.split(".", 3)[2:]
    return ".".join(["module", module.type if module else "", *rest[-1:]])[:200]


def follow(post: Post, views: Sequence[LayerView]) -> None:
    """Update the rows of these layers. Writes only rows whose state changed."""
    layers = [str(view.layer) for view in views]
    if not any(view.exists for view in views):
        _FORGET.execute(post.pk, layers)
        return
    rows = QueuedChange.objects.filter(post=post, layer__in=layers)
    stored = rows.values_list("layer", "path", "state", "pk")
    known = {(layer, path): (state, pk) for layer, path, state, pk in stored}
    moved: list[QueuedChange] = []
    for view in views:
        states = states_of(view)
        stale: list[Change] = []
        for change in view.changes:
            stored_state, _ = known.pop((view.layer, change.path), ("", 0))
            if stored_state != states[change.path]:
                stale.append(change)
        if stale and view.draft is not None:
            moved += [
                build_row(post, view, view.draft, judged, states[judged.change.path])
                for judged in judge(post, view, stale)
            ]
    if known:
        QueuedChange.objects.filter(pk__in=[pk for _, pk in known.values()]).delete()
    if moved:
        # An upsert: changed paths have a row already, new paths don't.
        QueuedChange.objects.bulk_create(
            moved,
            update_conflicts=True,
            unique_fields=["draft", "path"],
            update_fields=_COLUMNS,
        )


def rebuild() -> int:
    """Rebuild all rows from the drafts and return their number. Safe to run twice, also concurrently with writers."""
    ids = list(
        Post.objects.filter(drafts__is_empty=False)
        .distinct()
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    for begin in range(0, len(ids), _BATCH):
        # A transaction per batch: the locks make writers of these posts wait.
        with transaction.atomic():
            locked = Post.objects.filter(pk__in=ids[begin : begin + _BATCH]).order_by("pk")
            posts = list(locked.select_for_update(of=("self",), no_key=True))
            for layers in open_layers_of_many(posts):
                follow(layers.post, [layers.review, layers.ai_review])
    # The loop doesn't visit posts whose drafts are all empty.
    QueuedChange.objects.filter(draft__is_empty=True).delete()
    return QueuedChange.objects.count()


def needs_rebuild() -> bool:
    """Return whether rows are missing, left over, or built with another key or version."""
    wrong = Q(draft__is_empty=True) | ~Q(state__startswith=row_state_prefix())
    return (
        Draft.objects.filter(is_empty=False, queued__isnull=True).exists()
        or QueuedChange.objects.filter(wrong).exists()
    )


def excerpt(comparison: Comparison) -> tuple[Comparison, bool]:
    """Return the comparison without unchanged parts, and True if it shows all differences."""
    lines = [line for line in comparison.lines if line.differences]
    is_whole = len(lines) <= MAX_EXCERPT_LINES
    found: list[DiffLine] = []
    for line in lines[:MAX_EXCERPT_LINES]:
        segments = [_cut(segment, line.segments, at) for at, segment in enumerate(line.segments)]
        # Removed and added text is already shown in the segments.
        differences = [
            one for one in line.differences if not (line.segments and one.kind == "text")
        ]
        cut: list[Difference] = []
        for one in differences:
            before, after = (
                f"{side[:MAX_EXCERPT_LENGTH]}…"
                if isinstance(side, str) and len(side) > MAX_EXCERPT_LENGTH
                else side
                for side in (one.before, one.after)
            )
            cut.append(replace(one, before=before, after=after))
        is_short = all(
            segment.kind == "same" or len(segment.text) <= SHORT_VALUE_LENGTH
            for segment in line.segments
        )
        is_whole = is_whole and cut == differences and is_short
        found.append(replace(line, segments=tuple(segments), differences=tuple(cut)))
    return replace(comparison, lines=tuple(found)), is_whole


def to_json(comparison: Comparison) -> list[Json]:
    return [
        {
            "place": list(line.place),
            "role": line.role,
            "status": line.status,
            "segments": [[segment.kind, segment.text] for segment in line.segments],
            "differences": [_difference_to_json(one) for one in line.differences],
        }
        for line in comparison.lines
    ]


def judgement_to_json(judgement: Judgement) -> JsonObject:
    """Return the findings and the broken rules of a change."""
    found = findings_to_json(judgement.findings)
    if judgement.rules:
        found["rules"] = [rule.to_json() for rule in judgement.rules]
    return found


def findings_to_json(findings: Findings) -> JsonObject:
    return {
        "proven": sorted(findings.proven),
        "found": [[number, _difference_to_json(one)] for number, one in findings.found],
    }


def findings_from_json(value: Mapping[str, Json]) -> Findings:
    """Parse the result of `findings_to_json`."""
    found = cast("list[tuple[int, JsonObject]]", value.get("found", []))
    return Findings(
        frozenset(cast("list[int]", value.get("proven", []))),
        tuple((number, _difference_from_json(one)) for number, one in found),
    )


def _difference_to_json(one: Difference) -> JsonObject:
    return {
        "kind": one.kind,
        "place": list(one.place),
        "before": side_to_json(one.before),
        "after": side_to_json(one.after),
        "about": one.about,
        "fact": one.is_fact,
    }


def _difference_from_json(one: JsonObject) -> Difference:
    return Difference(
        cast(DifferenceKind, one["kind"]),
        tuple(cast("list[str]", one["place"])),
        _side(one["before"]),
        _side(one["after"]),
        cast(str, one["about"]),
        is_fact=bool(one["fact"]),
    )


def from_json(value: Sequence[Mapping[str, Json]]) -> Comparison:
    """Parse the result of `to_json`."""
    lines: list[DiffLine] = []
    for line in value:
        differences = map(_difference_from_json, cast("list[JsonObject]", line["differences"]))
        segments = cast("list[list[str]]", line["segments"])
        lines.append(
            DiffLine(
                place=tuple(cast("list[str]", line["place"])),
                role=cast(str, line["role"]),
                status=cast(Status, line["status"]),
                segments=tuple(Segment(cast(SegmentKind, kind), text) for kind, text in segments),
                differences=tuple(differences),
            )
        )
    return Comparison(tuple(lines))


def _side(value: Json) -> Side | None:
    if isinstance(value, list):
        kind, id_ = cast("list[str]", value)
        return ShownReference(cast(ReferenceKind, kind), id_)
    return cast("str | None", value)


def _cut(segment: Segment, among: Sequence[Segment], at: int) -> Segment:
    text = segment.text
    if segment.kind != "same":
        return (
            segment
            if len(text) <= MAX_EXCERPT_LENGTH
            else Segment(segment.kind, text[:MAX_EXCERPT_LENGTH] + "…")
        )
    is_first, is_last = at == 0, at == len(among) - 1
    if is_first and is_last:
        return Segment(
            "same",
            text if len(text) <= 2 * _CHARACTERS_AROUND else text[: 2 * _CHARACTERS_AROUND] + "…",
        )
    words = text.split(" ")
    head, tail = text[:_CHARACTERS_AROUND], text[-_CHARACTERS_AROUND:]
    if len(words) > 1:
        head, tail = " ".join(words[: _WORDS_AROUND + 1]), " ".join(words[-_WORDS_AROUND - 1 :])
    if is_first:
        return Segment("same", tail if tail == text else f"…{tail}")
    if is_last:
        return Segment("same", head if head == text else f"{head}…")
    return segment if len(head) + len(tail) >= len(text) else Segment("same", f"{head} … {tail}")


def check_queue() -> Iterator[CheckResult]:
    """Yield a warning if inbox rows are missing or outdated."""
    if needs_rebuild():
        found = _("some drafts are not listed correctly")
        yield CheckResult("warn", "inbox", found, _("run manage.py rebuild_inbox"))
    else:
        count = QueuedChange.objects.count()
        found = ngettext("%(n)s change is waiting", "%(n)s changes are waiting", count)
        yield CheckResult("ok", "inbox", found % {"n": f"{count:,}"})
