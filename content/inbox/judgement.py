"""Risk assessment of staged changes: proven harmless differences, findings to check, and a risk level.

A judgement is made when a change is staged and stored in its inbox row, so pages only read it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from django.db.models import Q

from content.comparison.agreement.translation_comparison import SourceMismatch
from content.comparison.change_comparison import compare_change, shared_props
from content.comparison.findings import (
    Examination,
    Findings,
    conclude,
    examine,
    numbers_and_words,
)
from content.comparison.risk import Risk, assess
from content.document.changes import Change
from content.document.differences import Comparison, Difference, DifferenceKind
from content.document.document import PostDocument
from content.document.post_fields import POST_FIELDS
from content.models import ModuleInstance, Post, Status
from content.post_checks.proposals import BrokenRule, find_broken_rules, text_of_value
from content.store.layer_state import LayerView, mark_of
from content.store.search import TABLE
from content.translations.source_mismatches import (
    TranslationSource,
    changed_mismatches,
    load_sources,
)
from proofroom.core.hooks import Hook
from proofroom.core.search import find_present
from proofroom.definitions import custom_text_of, text_of
from proofroom.taxonomies.models import Term

_MOST_MISMATCHES: Final = 8
"""Maximum number of source mismatches stored per change; the card shows all."""
_MOST_ASKED: Final = 200
"""Maximum number of words looked up on the site; the others count as not found."""

change_sources: Hook[[Collection[str]], Iterable[str]] = Hook()
"""Called with ids of runs that proposed changes; returns the texts the runs were given as input."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The findings in a change, its risk for a published post (`live`) and for others (`draft`), and broken rules."""

    findings: Findings
    draft: Risk
    live: Risk
    rules: tuple[BrokenRule, ...] = ()

    def risk(self, status: str) -> Risk:
        return self.live if status == Status.PUBLISHED else self.draft


@dataclass(frozen=True, slots=True)
class JudgedChange:
    """A change with its comparison and its judgement. The comparison doesn't include the findings."""

    change: Change
    comparison: Comparison
    judgement: Judgement


def judge(post: Post, view: LayerView, changes: Iterable[Change]) -> list[JudgedChange]:
    """Assess changes of a layer.

    At most five queries, plus the queries of `change_sources` and `find_broken_rules`.
    """
    listed = list(changes)
    shared = shared_props(listed, view.document, view.below)
    language = view.document.locale
    compared = [
        compare_change(change, view.below, view.document, shared)[0].comparison for change in listed
    ]
    examined = [
        _examine(change, comparison, language)
        for change, comparison in zip(listed, compared, strict=True)
    ]
    # Names and numbers from the source of a translation count as known.
    source = load_sources([post]).get(post.pk) if listed else None
    mismatches = changed_mismatches(view, source) if source is not None else {}
    used, known = _look_up(post, view, examined, source.document if source else None)
    broken = find_broken_rules(
        post, view.below, view.document, listed, _source_texts(listed, source)
    )
    found: list[JudgedChange] = []
    for change, comparison, examination in zip(listed, compared, examined, strict=True):
        findings = conclude(examination, used=used, known=known)
        disagreeing = map(_difference_of, mismatches.get(change.path, ())[:_MOST_MISMATCHES])
        findings = findings.with_found(disagreeing)
        mark = mark_of(view.marks, change.path)
        draft, live = (
            assess(
                comparison,
                findings,
                is_live=is_live,
                mark=mark,
                is_drifted=change.path in view.drifted,
            )
            for is_live in (False, True)
        )
        judgement = Judgement(findings, draft, live, broken.get(change.path, ()))
        found.append(JudgedChange(change, comparison, judgement))
    return found


def _source_texts(changes: Iterable[Change], source: TranslationSource | None) -> dict[str, str]:
    """Return the texts of a translation's source, by path of the change."""
    if source is None:
        return {}
    return {change.path: text_of_value(source.value_for(change.path)) for change in changes}


def _examine(change: Change, comparison: Comparison, language: str) -> Examination:
    declared = POST_FIELDS.get(change.path.removeprefix("post."))
    limit = declared.advised_length if declared and change.path.startswith("post.") else None
    length = len(change.after) if isinstance(change.after, str) else 0
    return examine(comparison, language, length=length, limit=limit)


def _difference_of(one: SourceMismatch) -> Difference:
    kind: DifferenceKind = "language" if one.kind == "language" else "source-mismatch"
    place = tuple(part for part in one.place.split(" › ") if part)
    return Difference(kind, place, one.source or None, one.target or None, is_fact=True)


def _look_up(
    post: Post,
    view: LayerView,
    examined: Iterable[Examination],
    source: PostDocument | None,
) -> tuple[set[str], set[str]]:
    """Return the replaced words that occur elsewhere, and the new words that occur in a source."""
    spelled: set[str] = set()
    new_words: set[str] = set()
    for one in examined:
        spelled |= one.spelled
        new_words |= one.asked
    if not spelled and not new_words:
        return set(), set()
    here = Counter(_words_of(view.below))
    # One occurrence is the one that the change replaces.
    used = {word for word in spelled if here[word] > 1}
    known = new_words & set(here)
    if source is not None:
        known |= new_words.intersection(_words_of(source))
    runs = {mark.run_id for mark in view.marks.values() if mark.run_id}
    if new_words - known:
        for texts in change_sources(runs) if runs else ():
            for text in texts:
                known |= new_words.intersection(numbers_and_words(text))
    unknown = [*sorted(spelled - used), *sorted(new_words - known)][:_MOST_ASKED]
    others = Post.objects.filter(deleted_at__isnull=True).exclude(pk=post.pk)
    published = others.filter(status=Status.PUBLISHED)
    questions = [(word, others if word in spelled else published) for word in unknown]
    found_words = {
        word
        for word, is_there in zip(unknown, find_present(TABLE, questions), strict=True)
        if is_there
    }
    # A word over the limit was not looked up, so it counts as used: it doesn't prove a spelling correction.
    used |= (spelled - set(unknown)) | (found_words & spelled)
    used |= _find_in_terms_and_modules(view.below, spelled - used)
    return used, known | (found_words & new_words)


def _find_in_terms_and_modules(document: PostDocument, words: set[str]) -> set[str]:
    """Return the words that occur in terms or in shared modules of the post. At most two queries."""
    if not words:
        return set()
    texts: list[str] = []
    shared = [module.instance_id for module in document.modules if module.scope != "local"]
    if shared:
        rows = ModuleInstance.objects.filter(pk__in=shared).values_list("type", "props")
        texts += [text_of(kind, props) for kind, props in rows]
    name_filter = Q()
    # SQLite folds the case of ASCII letters only, so capitalized forms are searched too.
    for form in sorted({*words, *map(str.capitalize, words)}):
        name_filter |= Q(name__icontains=form)
    texts += Term.objects.filter(name_filter).values_list("name", flat=True)
    return words.intersection(numbers_and_words("\n".join(texts)))


def _words_of(document: PostDocument) -> Iterable[str]:
    texts = [value for value in document.fields.values() if isinstance(value, str)]
    texts.append(custom_text_of(document.type, document.custom_fields))
    texts += [
        text_of(module.type, {**module.props, **module.overrides}) for module in document.modules
    ]
    return numbers_and_words("\n".join(texts))
