"""Rules that proposed changes break: what checks of posts find in the new content and not in the old one.

Stored with the change in the inbox, so that cards, lists and answers of staging tools show the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, cast

from django.utils.translation import gettext as _
from django.utils.translation import override

from content.comparison.brief_terms import missing_names
from content.document.changes import ABSENT, Change, Value
from content.document.contents import TextPart
from content.document.document import ModuleDocument, PostDocument
from content.models import Post
from content.post_checks.context import CheckContext, CheckSubject
from content.post_checks.registry import PostCheck, levels_of, list_checks, post_checks
from proofroom.core.json import Json, JsonObject
from proofroom.definitions.richtext.nodes import to_text

RuleCode = Literal["", "dead_link", "forbidden_term", "protected_name"]
"""The code of the warning that staging tools answer; empty for rules without one."""
MAX_RULES: Final = 10
"""Maximum number of broken rules that are stored for a change."""
_VALUE_LENGTH: Final = 120
_BRIEF: Final = "brief"


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule that a change breaks. `value`: the word, address or file. `message`: a sentence in English."""

    check: str
    path: str
    code: RuleCode
    value: str
    message: str

    @property
    def label(self) -> str:
        """The check and what it found, for a chip: "Editorial brief: users"."""
        check = post_checks.get(self.check)
        label = str(check.label) if check is not None else self.check
        return (
            _("%(rule)s: %(value)s") % {"rule": label, "value": self.value} if self.value else label
        )

    def to_json(self) -> JsonObject:
        return {
            "check": self.check,
            "path": self.path,
            "code": self.code,
            "value": self.value,
            "message": self.message,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> BrokenRule:
        return cls(
            str(stored["check"]),
            str(stored["path"]),
            cast("RuleCode", stored["code"]),
            str(stored["value"]),
            str(stored["message"]),
        )


def find_broken_rules(
    post: Post,
    before: PostDocument,
    after: PostDocument,
    changes: Iterable[Change],
    source_texts: Mapping[str, str] | None = None,
) -> dict[str, tuple[BrokenRule, ...]]:
    """Return the rules that changes break, by path of the change; only changes that break one.

    Reads only what changed, and asks only checks that judge single values. `source_texts`: for a translation, the
    texts of its source by path of the change. At most eight queries, none for changes without texts, links and
    images.
    """
    paths = [change.path for change in changes if change.kind not in ("removed", "moved")]
    if not paths:
        return {}
    levels = levels_of(after.type)
    checks = [
        check for check in list_checks() if check.judges_values and levels[check.name] != "off"
    ]
    old, new = CheckContext(
        [(post, part) for part in _changed_parts(before, after, paths)]
    ).subjects
    found: dict[str, list[BrokenRule]] = defaultdict(list)
    # Messages are stored, and tools answer in English.
    with override("en"):
        for check in checks:
            _add_failures(found, check, old, new, paths)
        if levels[_BRIEF] != "off":
            _add_missing_names(found, old, new, paths, source_texts or {})
    return {path: tuple(rules[:MAX_RULES]) for path, rules in found.items()}


def _changed_parts(
    before: PostDocument, after: PostDocument, paths: Sequence[str]
) -> tuple[PostDocument, PostDocument]:
    """Return both documents with only the fields and modules that changed."""
    names = {path.removeprefix("post.") for path in paths if path.startswith("post.")}
    ids = {path.split(".")[1] for path in paths if path.startswith("modules.")}
    old, new = (
        replace(
            side,
            fields={name: value for name, value in side.fields.items() if name in names},
            modules=tuple(module for module in side.modules if module.id in ids),
        )
        for side in (before, after)
    )
    return old, new


def _add_failures(
    found: dict[str, list[BrokenRule]],
    check: type[PostCheck],
    old: CheckSubject,
    new: CheckSubject,
    paths: Sequence[str],
) -> None:
    failures = [one for one in check.failures(new) if one.path]
    if not failures:
        return
    left = Counter((one.path, one.value) for one in check.failures(old))
    for one in failures:
        key = (one.path, one.value)
        if left[key]:
            left[key] -= 1
        elif (path := _path_of_change(one.path, paths)) is not None:
            code = cast("RuleCode", one.code)
            value = one.value[:_VALUE_LENGTH]
            found[path].append(BrokenRule(check.name, one.path, code, value, one.message))


def _add_missing_names(
    found: dict[str, list[BrokenRule]],
    old: CheckSubject,
    new: CheckSubject,
    paths: Sequence[str],
    source_texts: Mapping[str, str],
) -> None:
    texts = _texts_by_change(new.contents.texts, paths)
    if not texts:
        return
    names = new.brief.protected_names
    if not names:
        return
    earlier = _texts_by_change(old.contents.texts, paths)
    for path, text in texts.items():
        known = {rule.value.casefold() for rule in found.get(path, ())}
        former = source_texts.get(path) or earlier.get(path, "")
        for name in missing_names(former, text, names):
            if name.casefold() not in known:
                message = _("The name %(name)s is missing or was changed.") % {"name": name}
                found[path].append(BrokenRule(_BRIEF, path, "protected_name", name, message))


def _texts_by_change(parts: Iterable[TextPart], paths: Sequence[str]) -> dict[str, str]:
    found: dict[str, list[str]] = defaultdict(list)
    for part in parts:
        if (path := _path_of_change(part.path, paths)) is not None:
            found[path].append(part.text)
    return {path: "\n".join(texts) for path, texts in found.items()}


def _path_of_change(path: str, paths: Sequence[str]) -> str | None:
    """Return the change that contains a path."""
    return next(
        (change for change in paths if path == change or path.startswith(f"{change}.")), None
    )


def text_of_value(value: Value) -> str:
    """Return the text of a value in a document."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        if value.get("type") == "doc":
            return to_text(dict(value))
        return "\n".join(filter(None, (text_of_value(item) for item in value.values())))
    if value is ABSENT or isinstance(value, ModuleDocument) or not isinstance(value, list | tuple):
        return ""
    return "\n".join(filter(None, (text_of_value(item) for item in value)))
