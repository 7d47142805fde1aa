"""The check `seoTitle`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.document.post_fields import POST_FIELDS
from content.post_checks.context import CheckSubject
from content.post_checks.registry import Failure, PostCheck

PATH: Final = "post.metaTitle"


class SeoTitle(PostCheck):
    """The title that search engines show exists and is not cut off."""

    name = "seoTitle"
    label = gettext_lazy("SEO title")
    advice = gettext_lazy("Write a meta title of at most 60 characters.")
    passed = gettext_lazy("The meta title has a good length.")
    order = 10

    @classmethod
    def failures(cls, subject: CheckSubject) -> Iterable[Failure]:
        title, limit = subject.field("metaTitle"), POST_FIELDS["metaTitle"].advised_length or 60
        if not title:
            yield Failure(_("There is no meta title."), PATH)
        elif len(title) > limit:
            message = _(
                "The meta title has %(count)s characters. Search engines show about %(limit)s."
            )
            yield Failure(message % {"count": len(title), "limit": limit}, PATH, title)
