"""The check `headings`."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.post_checks.context import CheckSubject
from content.post_checks.registry import Failure, PostCheck


class Headings(PostCheck):
    """The headings of a page form an outline: one of level 1, no level skipped, none empty.

    The page has its title as the heading of level 1, so rich text begins at level 2.
    """

    name = "headings"
    label = gettext_lazy("Headings")
    advice = gettext_lazy("Use the levels in order: heading 2 for sections, heading 3 below them.")
    passed = gettext_lazy("The headings form an outline.")
    order = 50

    @classmethod
    def failures(cls, subject: CheckSubject) -> Iterable[Failure]:
        above = 1
        for heading in subject.contents.headings:
            values = {"heading": heading.text, "level": heading.level, "above": above}
            if heading.is_written and not heading.text.strip():
                yield Failure(_("A heading of level %(level)s is empty.") % values, heading.path)
            elif heading.is_written and heading.level == 1:
                message = _(
                    "“%(heading)s” is a second heading of level 1. The title of the page is one."
                )
                yield Failure(message % values, heading.path, heading.text)
            elif heading.is_written and heading.level > above + 1:
                message = _("“%(heading)s” has level %(level)s, right after level %(above)s.")
                yield Failure(message % values, heading.path, heading.text)
            above = heading.level
