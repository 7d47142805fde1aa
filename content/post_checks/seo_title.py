"""The check `seoTitle`."""

from __future__ import annotations

from django.utils.translation import gettext_lazy

from content.post_checks._snippet_length import SnippetLength


class SeoTitle(SnippetLength):
    """The title that search engines show exists and is not cut off."""

    name = "seoTitle"
    label = gettext_lazy("SEO title")
    advice = gettext_lazy("Write a meta title of at most 60 characters.")
    passed = gettext_lazy("The meta title has a good length.")
    order = 10
    field = "metaTitle"
    limit = 60
    missing = gettext_lazy("There is no meta title.")
    too_long = gettext_lazy(
        "The meta title has %(count)s characters. Search engines show about %(limit)s."
    )
