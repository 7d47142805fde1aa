"""The length of the texts that search engines show of a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from django.utils.functional import Promise

from content.document.post_fields import POST_FIELDS
from content.post_checks.context import CheckSubject
from content.post_checks.registry import Failure, PostCheck


class SnippetLength(PostCheck):
    """A field that search engines show exists and is not cut off. Base class of checks of one field.

    `missing` and `too_long`: the messages; the second one with `count` and `limit`.
    """

    field: ClassVar[str]
    limit: ClassVar[int]
    """Used if the field declares no length of its own."""
    missing: ClassVar[str | Promise]
    too_long: ClassVar[str | Promise]

    @classmethod
    def failures(cls, subject: CheckSubject) -> Iterable[Failure]:
        text, path = subject.field(cls.field), f"post.{cls.field}"
        limit = POST_FIELDS[cls.field].advised_length or cls.limit
        if not text:
            yield Failure(str(cls.missing), path)
        elif len(text) > limit:
            message = str(cls.too_long) % {"count": len(text), "limit": limit}
            yield Failure(message, path, text)
