"""The check `accessibility`."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from content.post_checks.context import CheckSubject
from content.post_checks.registry import Failure, PostCheck, levels_of


class Accessibility(PostCheck):
    """The page passes the rules of axe for WCAG 2.2 AA, tested in the browser on the Checks tab.

    The result is stored for exactly that content. Without one there is no result, and where the post type blocks on
    this check the test must be run first.
    """

    name = "accessibility"
    label = gettext_lazy("Accessibility")
    advice = gettext_lazy("Open the linked explanation of the rule, and correct the content.")
    passed = gettext_lazy("axe found no problems on the page.")
    order = 120

    @classmethod
    def applies(cls, subject: CheckSubject) -> bool:
        is_required = levels_of(subject.document.type)[cls.name] == "block"
        return is_required or subject.accessibility is not None

    @classmethod
    def failures(cls, subject: CheckSubject) -> Iterable[Failure]:
        report = subject.accessibility
        if report is None:
            yield Failure(_("The accessibility of this content was not tested yet."))
            return
        for found in report.violations:
            count = found["count"]
            message = ngettext(
                "%(help)s (%(count)s place)", "%(help)s (%(count)s places)", count
            ) % {"help": found["help"], "count": count}
            yield Failure(message, value=found["rule"], more_url=found["helpUrl"])
