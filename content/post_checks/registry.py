"""Checks of posts before they are published: one class per file, in `<app>/post_checks/`.

    class CallToAction(PostCheck):
        name = "callToAction"
        label = "Call to action"
        advice = "Add a button that leads to the contact form."

        @classmethod
        def failures(cls, subject: CheckSubject) -> Iterable[Failure]:
            if not any(link.href == "/contact" for link in subject.contents.links):
                yield Failure("No link leads to the contact form.")

A post type sets levels in `checks`. System checks of Django are in `content/checks.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, Literal, get_args

from django.utils.functional import Promise

from proofroom.core.registry import Registry
from proofroom.definitions import post_types
from proofroom.definitions.post_type import CheckLevel

if TYPE_CHECKING:
    from content.post_checks.context import CheckSubject

LEVELS: Final[tuple[CheckLevel, ...]] = get_args(CheckLevel)
ResultLevel = Literal["ok", "warn", "block"]


@dataclass(frozen=True, slots=True)
class Failure:
    """A reason why a post does not pass a check.

    `path`: place of the value, empty for the whole post. `value`: what was found there, for lists of many posts.
    `code`: the code of the warning about a proposal. `more_url`: a page that explains the rule.
    """

    message: str
    path: str = ""
    value: str = ""
    code: str = ""
    more_url: str = ""


class PostCheck:
    """Base class of checks. `failures` must not write, and loads through the subject's context.

    `advice`: what to do about a failure, in one sentence. `passed`: the message if nothing failed. `not_judged`: the
    message where the check does not apply; empty to leave the check out.
    """

    name: ClassVar[str]
    label: ClassVar[str | Promise]
    advice: ClassVar[str | Promise] = ""
    passed: ClassVar[str | Promise] = ""
    not_judged: ClassVar[str | Promise] = ""
    default_level: ClassVar[CheckLevel] = "warn"
    judges_values: ClassVar[bool] = False
    """True if the check judges each value alone, so that it can also judge single proposed changes."""
    order: ClassVar[int] = 100
    """Position in lists; checks with the same order are sorted by name."""

    @classmethod
    def applies(cls, subject: CheckSubject) -> bool:
        """Return whether the check can judge the post."""
        return True

    @classmethod
    def failures(cls, subject: CheckSubject) -> Iterable[Failure]:
        """Yield what is wrong with the document of the subject."""
        raise NotImplementedError


post_checks: Registry[PostCheck] = Registry("post_checks", PostCheck)


def list_checks() -> list[type[PostCheck]]:
    """Return all checks in the order of lists."""
    return sorted(post_checks, key=lambda check: (check.order, check.name))


def levels_of(post_type: str) -> dict[str, CheckLevel]:
    """Return the level of each check for posts of a type, by name, in the order of lists."""
    definition = post_types.get(post_type)
    own: Mapping[str, CheckLevel] = definition.checks if definition else {}
    return {check.name: own.get(check.name, check.default_level) for check in list_checks()}


def blocking_checks(post_type: str) -> list[type[PostCheck]]:
    """Return the checks that prevent the publication of posts of a type."""
    levels = levels_of(post_type)
    return [check for check in list_checks() if levels[check.name] == "block"]
