"""The inbox: all changes that wait for review, highest risk first, with decisions in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import asdict
from typing import Any, Final
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.comparison.characters import make_visible
from content.comparison.difference_text import note_of
from content.comparison.references import References
from content.document.labels import type_label
from content.inbox.queries import (
    QueueFilter,
    SimilarChanges,
    count_facets,
    filter_queue,
    group_similar,
    join_posts,
)
from content.inbox.rows import from_json
from content.models import Layer
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.agent_directory import agent_name
from proofroom.core.errors import CmsError
from proofroom.core.i18n.languages import language_name
from proofroom_apps.editorial.inbox.alt_texts import alt_text_lines
from proofroom_apps.editorial.inbox.batches import running_batches
from proofroom_apps.editorial.inbox.counts import count_besides_queue
from proofroom_apps.editorial.inbox.decisions import decide, read_marks, require_opened
from proofroom_apps.editorial.inbox.queue_rows import (
    AGES,
    LAYERS,
    RISKS,
    Rights,
    author_of,
    build_queue_rows,
    place_of,
    risk_word,
)
from proofroom_apps.editorial.inbox.sections import show_sections
from proofroom_apps.editorial.posts.authors import client_names
from proofroom_apps.editorial.posts.extensions import describe_runs
from proofroom_apps.editorial.posts.post_pages import page
from proofroom_apps.editorial.shared_content.review import waiting_lines

_PAGE_SIZE: Final = 25
_MAX_GROUPS: Final = 6
_MAX_FILTER_LENGTH: Final = 150
_MIN_FOR_ALL: Final = 4
"""Minimum number of listed changes for the links that decide on all; fewer would be only a sample."""
Option = tuple[str, str, int]


@service_errors_as_http
def inbox(request: HttpRequest) -> HttpResponse:
    """GET lists (`?layer=`, `risk`, `agent`, `author`, `type`, `locale`, `age`), POST decides on marked changes."""
    require(request, "posts.view")
    if request.method != "POST":
        return _show(request, {})
    marks = read_marks(request.POST)
    if not marks:
        return _show(request, {}, _("Choose “Accept” or “Reject” for at least one change."), 422)
    try:
        require_opened(request, marks)
        query = request.GET.urlencode()
        return decide(request, marks, reverse("admin:inbox") + (f"?{query}" if query else ""))
    except CmsError as error:
        # These have their own pages. After any other error the form keeps the user's marks.
        if error.status in (403, 404):
            raise
        # Under the names of both fields, since a mark doesn't contain which of them sent it.
        words = {f"{name}.{mark.id}.{mark.seen}": str(mark.word) for mark in marks for name in "dx"}
        return _show(request, words, error.message, error.status)


def read_queue_filter(query: QueryDict) -> QueueFilter:
    """Return the filter of an address; invalid parameters are ignored."""
    found = {
        name: value
        for name in ("agent", "author", "type", "locale", "like")
        if 0 < len(value := query.get(name, "")) <= _MAX_FILTER_LENGTH
    }
    known: dict[str, Collection[str]] = {
        "layer": LAYERS,
        "risk": [str(risk) for risk in RISKS],
        "age": AGES,
    }
    found |= {
        name: value for name, words in known.items() if (value := query.get(name, "")) in words
    }
    return QueueFilter(**found)


def _show(
    request: HttpRequest, words: dict[str, str], problem: str = "", status: int = 200
) -> HttpResponse:
    asked = read_queue_filter(request.GET)
    actor = actor_of(request)
    there, rights = count_facets(actor), Rights.of(request)
    # Shared content counts as waiting in Review, see `counts.py`.
    shared_count, alt_text_count, section_count = count_besides_queue(request)
    # The filters are about posts, so shared content matches none of them.
    has_shared = bool(shared_count) and asked.layer != Layer.AI_REVIEW and not asked.is_narrowed
    has_alt_texts = bool(alt_text_count) and asked.layer != Layer.REVIEW and not asked.is_narrowed
    pages = Paginator(join_posts(filter_queue(asked, actor)), _PAGE_SIZE)
    if not asked.is_narrowed and not asked.like:
        # The filters have counted the rows already, which saves the paginator's query.
        pages.count = there.layer[asked.layer] if asked.layer else sum(there.layer.values())
    found = pages.get_page(request.GET.get("page"))
    # Selects: name, label, chosen value, options with counts.
    risks = [(str(risk), str(word), there.risk[str(risk)]) for risk, word in RISKS.items()]
    # Tabs: both layers together, and each layer.
    counts = there.layer + Counter(
        {Layer.REVIEW.value: shared_count, Layer.AI_REVIEW.value: alt_text_count}
    )
    both = ("", _("All"), sum(counts.values()) + section_count)
    # Links that decide on all matches: label and address for each layer.
    together: list[tuple[str, str]] = []
    if rights.any and not asked.like and len(found) >= _MIN_FOR_ALL:
        names = [asked.layer] if asked.layer else [name for name in LAYERS if there.layer[name]]
        query = {**asdict(asked), "like": ""}
        together = [
            (str(LAYERS[name]), inbox_url("inbox-all", **{**query, "layer": name}))
            for name in names
        ]
    context = {
        # In no layer, so that they match none of the tabs but the first.
        "sections": show_sections(request)
        if not asked.layer and not asked.is_narrowed and found.number == 1
        else [],
        "shared_waiting": waiting_lines(request) if has_shared and found.number == 1 else [],
        "alt_texts": alt_text_lines(request) if has_alt_texts and found.number == 1 else [],
        "lines": build_queue_rows(request, found, words=words),
        "page_obj": found,
        "asked": asked,
        "choices": [
            ("risk", _("Risk"), asked.risk, risks),
            ("agent", _("Agent"), asked.agent, _options(there.agent, agent_name)),
            ("author", _("Person"), asked.author, _options(there.author, str)),
            ("type", _("Type"), asked.type, _options(there.type, type_label)),
            ("locale", _("Language"), asked.locale, _options(there.locale, language_name)),
            ("age", _("Age"), asked.age, [(name, str(word), 0) for name, word in AGES.items()]),
        ],
        "layers": [both, *((name, label, counts[name]) for name, label in LAYERS.items())],
        "total": sum(counts.values()),
        "groups": [] if asked.like else _group_rows(request, asked),
        "rights": rights,
        "together": together,
        "going_on": running_batches(request) if rights.any else [],
        "problem": problem,
        "note": request.POST.get("note", ""),
        "is_limited": bool(actor.scopes),
    }
    return page(request, "admin/inbox.html", context, title=_("Inbox"), status=status)


def _options(counts: Counter[str], name_of: Callable[[str], str]) -> list[Option]:
    found = [(value, name_of(value), count) for value, count in counts.items()]
    return sorted(found, key=lambda option: (option[1].casefold(), option[0]))


def _group_rows(request: HttpRequest, asked: QueueFilter) -> list[dict[str, Any]]:
    """Return groups of similar changes of several posts, for one decision after a sample."""
    found = group_similar(asked, _MAX_GROUPS, actor_of(request))
    runs = describe_runs(request, (group.example.run_id for group in found))
    clients = client_names((group.example.principal for group in found), actor_of(request))
    return [
        {
            "url": reverse("admin:inbox-like", args=[group.like]),
            "count": group.count,
            "words": group_label(
                group, author_of(group.example, runs.get(group.example.run_id), clients)
            ),
            "risk": group.weight,
            "risk_word": risk_word(group.weight),
            "layer": group.example.layer,
        }
        for group in found
    ]


def group_label(group: SimilarChanges, who: str) -> str:
    """Return a group's label: "12 identical changes by SEO Specialist: Meta description: − 40 + 45".

    `who` is from `author_of`.
    """
    row = group.example
    text = ngettext(
        "%(count)d identical change by %(who)s: %(what)s",
        "%(count)d identical changes by %(who)s: %(what)s",
        group.count,
    )
    # Only the first difference, without titles: the group's page shows those.
    first = from_json(row.pieces).lines[:1]
    notes = [note_of(one, References()).text for line in first for one in line.differences]
    signs = {"removed": "−", "inserted": "+"}
    drawn = [
        f"{signs[part.kind]} {make_visible(part.text.strip())}"
        for line in first
        for part in line.segments
        if part.kind in signs
    ]
    return text % {
        "count": group.count,
        "who": who,
        "what": Truncator(f"{place_of(row)}: {' '.join(drawn) or ' '.join(notes[:1])}").chars(160),
    }


def filter_label(asked: QueueFilter) -> str:
    """Return the label of a filter: "High risk, Blog, German"; empty without a filter."""
    said = [
        str(RISKS[int(asked.risk)]) if asked.risk else "",
        agent_name(asked.agent) if asked.agent else "",
        asked.author,
        type_label(asked.type) if asked.type else "",
        language_name(asked.locale) if asked.locale else "",
        str(AGES[asked.age]) if asked.age else "",
    ]
    return ", ".join(word for word in said if word)


def inbox_url(view: str = "inbox", **asked: str) -> str:
    """Return the filtered address of the inbox; `inbox-all` is the page that decides on all matches."""
    query = urlencode({name: value for name, value in asked.items() if value})
    return reverse(f"admin:{view}") + (f"?{query}" if query else "")
