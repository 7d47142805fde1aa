"""The results of all checks of a post, and the refusal of its publication."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.document.document import PostDocument
from content.models import Post, Status
from content.post_checks.context import CheckContext, CheckSubject
from content.post_checks.registry import (
    Failure,
    PostCheck,
    ResultLevel,
    blocking_checks,
    levels_of,
    list_checks,
)
from content.store import post_repository
from proofroom.core.errors import RuleViolation
from proofroom.definitions import post_types
from proofroom.definitions.post_type import CheckLevel

CHECKS_FAILED = "checks_failed"
_PASSED = gettext_lazy("Passed.")
_MAX_NAMED = 20


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One result of a check: `ok` once, or a failure. `path` is empty for the whole post."""

    check: type[PostCheck]
    level: ResultLevel
    message: str
    path: str = ""
    value: str = ""
    more_url: str = ""


def check_post(post: Post, document: PostDocument) -> list[CheckResult]:
    """Return the results of all checks that are on, for a document of the post.

    At most 20 queries, and the queries of checks that a site adds.
    """
    [subject] = CheckContext([(post, document)]).subjects
    return list(results_of(subject, list_checks(), levels_of(document.type)))


def results_of(
    subject: CheckSubject, checks: Iterable[type[PostCheck]], levels: Mapping[str, CheckLevel]
) -> Iterator[CheckResult]:
    """Yield the results of checks, in their order."""
    for check in checks:
        level = levels[check.name]
        if level == "off":
            continue
        if not check.applies(subject):
            if check.not_judged:
                yield CheckResult(check, "ok", str(check.not_judged))
            continue
        failures = list(check.failures(subject))
        for one in failures:
            yield CheckResult(check, level, one.message, one.path, one.value, one.more_url)
        if not failures:
            yield CheckResult(check, "ok", str(check.passed or _PASSED))


BlockingFailure = tuple[type[PostCheck], Failure]
Rewrite = tuple[Post, PostDocument, PostDocument]
"""A post, its document before a change and after it."""


def require_publishable(post: Post, document: PostDocument) -> None:
    """Raise `RuleViolation` (`checks_failed`) if a check that blocks the type fails for the document.

    No query if no check blocks posts of the type.
    """
    _refuse(find_blocking_failures(post, document))


def find_blocking_failures(post: Post, document: PostDocument) -> list[BlockingFailure]:
    """Return the failures that prevent the publication of a document. No query if no check blocks the type."""
    checks = blocking_checks(document.type)
    if not checks:
        return []
    [subject] = CheckContext([(post, document)]).subjects
    return [(check, one) for check in checks for one in _failures_of(check, subject)]


def require_variation(variation: Post) -> None:
    """Raise `RuleViolation` (`checks_failed`) if visitors must not see a variation."""
    if blocking_checks(variation.type):
        require_publishable(variation, post_repository.load(variation))


def require_live_change(rewrites: Iterable[Rewrite]) -> None:
    """Raise `RuleViolation` (`checks_failed`) if a change of published posts makes a blocking check fail.

    What already failed before the change does not prevent it, so that a post with several failures can be corrected
    step by step. No query if no check blocks posts of these types.
    """
    _refuse(find_new_failures(rewrites))


def find_new_failures(rewrites: Iterable[Rewrite]) -> list[BlockingFailure]:
    """Return the blocking failures in changes of published posts that the posts did not have before."""
    judged = [
        (post, before, after)
        for post, before, after in rewrites
        if _is_public(post) and blocking_checks(post.type)
    ]
    if not judged:
        return []
    context = CheckContext(
        pair for post, before, after in judged for pair in ((post, before), (post, after))
    )
    found: list[BlockingFailure] = []
    for old, new in zip(context.subjects[::2], context.subjects[1::2], strict=True):
        for check in blocking_checks(new.document.type):
            failures = list(_failures_of(check, new))
            if not failures:
                continue
            left = Counter(one.path for one in _failures_of(check, old))
            for one in failures:
                # Failures are compared by place, because messages contain the value.
                if left[one.path]:
                    left[one.path] -= 1
                else:
                    found.append((check, one))
    return found


def _is_public(post: Post) -> bool:
    is_shown = post.status == Status.PUBLISHED and not post.is_placeholder
    return is_shown or (post.variation_of_id is not None and post.variation_running)


def _failures_of(check: type[PostCheck], subject: CheckSubject) -> Iterable[Failure]:
    return check.failures(subject) if check.applies(subject) else ()


def _refuse(found: Sequence[BlockingFailure]) -> None:
    if not found:
        return
    details: dict[str, list[str]] = {}
    for check, one in found[:_MAX_NAMED]:
        details.setdefault(_key_of(one.path, check.name), []).append(one.message)
    names = dict.fromkeys(str(check.label) for check, _failure in found)
    first = found[0][1].message
    message = _("Checks prevent the publication: %(names)s. %(first)s") % {
        "names": ", ".join(names),
        "first": first,
    }
    raise RuleViolation(message, code=CHECKS_FAILED, details=details)


def _key_of(path: str, check: str) -> str:
    """Return the key of `details`: the field of the post, the path in a module, or the name of the check."""
    return path.removeprefix("post.") or f"checks.{check}"


def unknown_levels(post_type: str) -> Iterator[str]:
    """Yield what is wrong with the levels that a post type sets, for `manage.py check`."""
    definition = post_types.get(post_type)
    known = [check.name for check in list_checks()]
    for name, level in (definition.checks if definition else {}).items():
        if name not in known:
            yield f"checks names {name!r}, no check; known: {', '.join(known)}"
        elif level not in ("off", "warn", "block"):
            yield f"checks[{name!r}] is {level!r}; it must be off, warn or block"
