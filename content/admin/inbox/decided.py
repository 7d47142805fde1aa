"""Decisions of the inbox: read from a form, and told of."""

from __future__ import annotations

import re
from typing import Final

from django.contrib import messages
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.models import Layer
from content.services.inbox import Decided, Decision, Marked, Word

_NAME: Final = re.compile(r"d\.(\d{1,18})\.([0-9a-f]{20})")
_WORDS: Final[dict[str, Word]] = {"accept": "accept", "reject": "reject"}
_TOLD: Final = 5


def read_marks(posted: QueryDict) -> list[Marked]:
    """Every line that was marked accept or reject; what is malformed is no mark."""
    found: list[Marked] = []
    for name, value in posted.items():
        match = _NAME.fullmatch(name)
        word = _WORDS.get(str(value))
        if match is not None and word is not None:
            found.append(Marked(int(match[1]), match[2], word))
    return found


def tell(request: HttpRequest, done: Decided) -> None:
    """Say what was done, and what was left out by name."""
    parts = [part for part in (_submitted(done), _approved(done), _rejected(done)) if part]
    if parts:
        messages.success(request, " ".join(parts))
    if done.gone:
        text = ngettext(
            "%(count)d change did not wait any more: it was decided on or taken back meanwhile.",
            "%(count)d changes did not wait any more: they were decided on or taken back meanwhile.",
            done.gone,
        )
        messages.warning(request, text % {"count": done.gone})
    for decision in done.left[:_TOLD]:
        messages.warning(request, _left(decision))
    more = len(done.left) - _TOLD
    if more > 0:
        text = ngettext(
            "So it is with %(count)d more post.", "So it is with %(count)d more posts.", more
        )
        messages.warning(request, text % {"count": more})


def _submitted(done: Decided) -> str:
    count = done.count(Layer.AI_REVIEW)
    text = ngettext(
        "%(count)d change went on to Review.", "%(count)d changes went on to Review.", count
    )
    return text % {"count": count} if count else ""


def _approved(done: Decided) -> str:
    count = done.count(Layer.REVIEW)
    text = ngettext(
        "%(count)d change was approved and is live.",
        "%(count)d changes were approved and are live.",
        count,
    )
    return text % {"count": count} if count else ""


def _rejected(done: Decided) -> str:
    text = ngettext(
        "%(count)d change was rejected.", "%(count)d changes were rejected.", done.rejected
    )
    return text % {"count": done.rejected} if done.rejected else ""


def _left(decision: Decision) -> str:
    title = decision.post.title
    if decision.why:
        return _("“%(title)s” was left as it is: %(why)s") % {"title": title, "why": decision.why}
    text = ngettext(
        "“%(title)s”: %(count)d change was left, because it is not what you saw any more, or a person "
        "staged something else.",
        "“%(title)s”: %(count)d changes were left, because they are not what you saw any more, or a "
        "person staged something else.",
        len(decision.left),
    )
    return text % {"title": title, "count": len(decision.left)}
