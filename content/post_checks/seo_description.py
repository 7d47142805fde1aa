"""The check `seoDescription`."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from content.post_checks._snippet_length import SnippetLength


class SeoDescription(SnippetLength):
    """The description that search engines show exists and is not cut off."""

    name = "seoDescription"
    label = gettext_lazy("SEO description")
    advice = gettext_lazy("Write a meta description of at most 160 characters.")
    passed = gettext_lazy("The meta description has a good length.")
    order = 20
    field = "metaDescription"
    limit = 160
    missing = gettext_lazy("There is no meta description.")
    too_long = gettext_lazy(
        "The meta description has %(count)s characters. Search engines show about %(limit)s."
    )
