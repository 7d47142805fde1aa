"""The check `seoDescription`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.document.post_fields import POST_FIELDS
from content.post_checks.context import CheckSubject
from content.post_checks.registry import Failure, PostCheck

PATH: Final = "post.metaDescription"


class SeoDescription(PostCheck):
    """The description that search engines show exists and is not cut off."""

    name = "seoDescription"
    label = gettext_lazy("SEO description")
    advice = gettext_lazy("Write a meta description of at most 160 characters.")
    passed = gettext_lazy("The meta description has a good length.")
    order = 20

    @classmethod
    def failures(cls, subject: CheckSubject) -> Iterable[Failure]:
        text = subject.field("metaDescription")
        limit = POST_FIELDS["metaDescription"].advised_length or 160
        if not text:
            yield Failure(_("There is no meta description."), PATH)
        elif len(text) > limit:
            message = _(
                "The meta description has %(count)s characters. Search engines show about %(limit)s."
            )
            yield Failure(message % {"count": len(text), "limit": limit}, PATH, text)
