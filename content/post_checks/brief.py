"""The check `brief`."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.comparison.brief_terms import TermHit, find_terms
from content.post_checks.context import CheckSubject
from content.post_checks.registry import Failure, PostCheck


class BriefRules(PostCheck):
    """The texts follow the editorial brief: its terms, its names, and what it never says."""

    name = "brief"
    label = gettext_lazy("Editorial brief")
    advice = gettext_lazy("Use the terms of the editorial brief.")
    passed = gettext_lazy("The texts follow the editorial brief.")
    judges_values = True
    order = 100

    @classmethod
    def failures(cls, subject: CheckSubject) -> Iterable[Failure]:
        seen: set[tuple[str, str]] = set()
        for part in subject.contents.texts:
            for hit in find_terms(part.text, subject.brief, subject.locale):
                # Once for each word and place, however often it is repeated there.
                if (part.path, hit.found) not in seen:
                    seen.add((part.path, hit.found))
                    code = "protected_name" if hit.kind == "name" else "forbidden_term"
                    yield Failure(term_text(hit), part.path, hit.found, code)


def term_text(hit: TermHit) -> str:
    """Return what is wrong with a term, as a sentence."""
    values = {"found": hit.found, "instead": hit.instead, "term": hit.term}
    if hit.kind == "name":
        return _("The name %(instead)s is written “%(found)s”.") % values
    if hit.kind == "never":
        return _("The brief never says “%(term)s”.") % values
    if hit.instead:
        return _("Write “%(instead)s” instead of “%(found)s”.") % values
    return _("The brief forbids “%(found)s”.") % values
