"""Results of accessibility tests that people run in their browser, stored for exactly the content that was tested."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from django.db import transaction
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from content.document.document import PostDocument
from content.models import AccessibilityReport, Post
from content.post_checks.context import CheckContext
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, invalid

MAX_RULES: Final = 100
MAX_REPORTS: Final = 10
"""Number of reports that a post has, for its layers and its latest versions."""
Line = Annotated[str, Field(max_length=300)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)


class Violation(_Part):
    """A rule that the page breaks, in `count` places; `target` is the selector of the first."""

    rule: Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[a-z0-9-]+$")]
    impact: Literal["minor", "moderate", "serious", "critical"] | None = None
    help: Line
    help_url: Annotated[str, Field(max_length=300, pattern=r"^https://dequeuniversity\.com/")]
    count: Annotated[int, Field(ge=1, le=100_000)]
    target: Line = ""


class TestedPage(_Part):
    """The result of a test. `digest`: the content that was shown."""

    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    engine: Annotated[str, Field(min_length=1, max_length=40)]
    violations: Annotated[list[Violation], Field(max_length=MAX_RULES)]


def read_tested_page(body: bytes) -> TestedPage:
    """Parse the result that the browser sends. Raises `RuleViolation`."""
    try:
        return TestedPage.model_validate_json(body)
    except ValidationError:
        raise invalid("violations", _("This is no result of an accessibility test.")) from None


def document_digest(post: Post, document: PostDocument) -> str:
    """Return the hash of what visitors get of a document. One query for global modules."""
    [subject] = CheckContext([(post, document)]).subjects
    return subject.digest


@transaction.atomic
def store_report(
    *, post: Post, document: PostDocument, tested: TestedPage, actor: Actor
) -> AccessibilityReport:
    """Store the result of a test of this document.

    Raises `Conflict` (`stale_version`) if other content was tested.
    """
    actor.require_person("test the accessibility of a page")
    if not actor.can("posts.edit"):
        actor.require("posts.translate")
    if document_digest(post, document) != tested.digest:
        raise Conflict(
            _("The content was changed while the page was tested. Test it again."),
            code="stale_version",
            current=post.version,
        )
    report, _made = AccessibilityReport.objects.update_or_create(
        post=post,
        digest=tested.digest,
        defaults={
            "engine": tested.engine,
            "violations": [one.model_dump(by_alias=True) for one in tested.violations],
        },
    )
    rows = AccessibilityReport.objects.filter(post=post).order_by("-checked_at", "-pk")
    outdated = list(rows.values_list("pk", flat=True)[MAX_REPORTS:])
    AccessibilityReport.objects.filter(pk__in=outdated).delete()
    return report
