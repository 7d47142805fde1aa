"""Bulk edit: the same changes of terms, authors, custom fields and dates in many posts, and an assignment for each.

Each post is changed by `edit_post`, as by a single edit in the admin, so permissions, rules, editorial steps and
revisions are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, cast, get_args
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from content.document.document import CUSTOM_PREFIX, PostDocument
from content.document.post_fields import AUTHORS, SCHEDULE_FIELDS
from content.models import JobOutcome, Post, PostJob, PostJobItem
from content.posts.edit import edit_post
from content.rules.check import require_authors
from content.store.layer_state import lock_post
from content.store.post_repository import authors_of
from proofroom.core.actor import Actor
from proofroom.core.errors import Conflict, NotAllowed, NotFound, RuleViolation, invalid
from proofroom.core.hooks import ExtensionPoint
from proofroom.core.json import Json, JsonObject
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.core.validation.moments import parse_moment
from proofroom.definitions import find_post_type, props_of, translatable_custom_fields
from proofroom.definitions.validation import check_partial
from proofroom.taxonomies.models import Term

TermMode = Literal["add", "remove", "replace"]
"""What happens to the chosen terms. `replace` removes the other terms of the same taxonomies."""
AuthorMode = Literal["add", "remove", "set"]
"""What happens to the chosen authors. `set` replaces the others."""
TERMS: Final = "taxonomyTermIds"


class BulkEditPart(Protocol):
    """A change of another app, made for each post beside those of its content.

    `check` returns the cleaned input, before any post is changed. `run` returns what `undo` needs, or None if there
    was nothing to do. All raise `CmsError`.
    """

    name: str

    def check(self, value: JsonObject, actor: Actor) -> JsonObject: ...

    def run(self, post: Post, value: JsonObject, actor: Actor) -> Json: ...

    def undo(self, post: Post, made: Json, actor: Actor) -> None: ...


bulk_edit_parts: ExtensionPoint[BulkEditPart] = ExtensionPoint()


@dataclass(frozen=True, slots=True)
class BulkEdit:
    """The changes to make in each post.

    `fields`: values by wire name: dates, and custom fields of the post type `type`. `parts`: input of the changes of
    other apps, by name.
    """

    term_mode: TermMode | None = None
    term_ids: tuple[str, ...] = ()
    author_mode: AuthorMode | None = None
    author_ids: tuple[int, ...] = ()
    fields: Mapping[str, Json] = field(default_factory=dict)
    type: str = ""
    parts: Mapping[str, JsonObject] = field(default_factory=dict)

    @property
    def changes_content(self) -> bool:
        return bool(self.term_mode or self.author_mode or self.fields)

    def to_json(self) -> JsonObject:
        return {
            "termMode": self.term_mode,
            "termIds": [*self.term_ids],
            "authorMode": self.author_mode,
            "authorIds": [*self.author_ids],
            "fields": {**self.fields},
            "type": self.type,
            "parts": {**self.parts},
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> BulkEdit:
        return cls(
            term_mode=cast("TermMode | None", value["termMode"]),
            term_ids=tuple(cast("Sequence[str]", value["termIds"])),
            # Jobs of earlier versions changed no authors.
            author_mode=cast("AuthorMode | None", value.get("authorMode")),
            author_ids=tuple(cast("Sequence[int]", value.get("authorIds") or ())),
            fields=cast("Mapping[str, Json]", value["fields"]),
            type=str(value["type"]),
            parts=cast("Mapping[str, JsonObject]", value["parts"]),
        )


def shared_custom_fields(post_type: str) -> list[str]:
    """Return the names of the custom fields that all translations of a post have in common."""
    own = translatable_custom_fields(post_type)
    return [name for name in props_of(find_post_type(post_type).CustomFields) if name not in own]


def check_bulk_edit(edit: BulkEdit, actor: Actor) -> JsonObject:
    """Return the edit as it is stored. Raises `RuleViolation` by field for what no post could accept."""
    if not edit.changes_content and not edit.parts:
        raise invalid("edit", _("Choose at least one change."), code="nothing_to_change")
    if edit.term_mode is not None:
        _check_terms(edit)
    if edit.author_mode is not None:
        _check_authors(edit)
    known = {CUSTOM_PREFIX + name for name in shared_custom_fields(edit.type)} if edit.type else ()
    custom: JsonObject = {}
    for name, value in edit.fields.items():
        if name in SCHEDULE_FIELDS:
            _check_date(name, value)
        elif name in known:
            custom[name.removeprefix(CUSTOM_PREFIX)] = value
        else:
            raise invalid(name, _("This field cannot be changed in several posts at once."))
    if custom:
        fields = find_post_type(edit.type).CustomFields
        what = f"The {edit.type}"
        check_partial(fields, custom, prefix=CUSTOM_PREFIX.rstrip("."), what=what)
    parts: JsonObject = {}
    for name, given in edit.parts.items():
        part = bulk_edit_parts.get(name)
        if part is None:
            raise invalid(name, _("This change is not available."))
        parts[name] = part.check(given, actor)
    return {**edit.to_json(), "parts": parts}


def _check_terms(edit: BulkEdit) -> None:
    if edit.term_mode not in get_args(TermMode):
        raise invalid(TERMS, _("Choose what to do with the terms."))
    if not edit.term_ids:
        raise invalid(TERMS, _("Choose at least one term."))
    ids = {id_ for id_ in map(parse_uuid, edit.term_ids) if id_ is not None}
    if Term.objects.filter(pk__in=ids).count() < len(set(edit.term_ids)):
        raise invalid(TERMS, _("One of the terms no longer exists. Choose the terms again."))


def _check_authors(edit: BulkEdit) -> None:
    if edit.author_mode not in get_args(AuthorMode):
        raise invalid(AUTHORS, _("Choose what to do with the authors."))
    if not edit.author_ids:
        raise invalid(AUTHORS, _("Choose at least one person."))
    if edit.author_mode != "remove":
        require_authors(edit.author_ids)


def _with_authors(document: PostDocument, edit: BulkEdit) -> PostDocument:
    now, chosen = authors_of(document), edit.author_ids
    if edit.author_mode == "set":
        after = [*chosen]
    elif edit.author_mode == "add":
        after = list(dict.fromkeys([*now, *chosen]))
    else:
        after = [id_ for id_ in now if id_ not in chosen]
    return document.with_fields({AUTHORS: [*after]})


def _check_date(name: str, value: Json) -> None:
    if value is None:
        return
    moment = parse_moment(value)
    if moment is None:
        raise invalid(name, _("Choose a date and a time."))
    if moment <= timezone.now():
        raise invalid(name, _("Choose a time in the future."))


def run_bulk_edit(job: PostJob, items: Sequence[PostJobItem], actor: Actor) -> None:
    edit = BulkEdit.from_json(job.edit or {})
    for item in items:
        with _as_refusal():
            _edit_one(item, edit, actor)


def _edit_one(item: PostJobItem, edit: BulkEdit, actor: Actor) -> None:
    post = lock_post(item.post, actor)
    version = post.version
    before: JsonObject = {}
    if edit.type and post.type != edit.type:
        raise RuleViolation(_("The post has another type, which does not have these fields."))

    def change(document: PostDocument) -> PostDocument:
        after = document.with_fields(edit.fields)
        changed = [*edit.fields]
        if edit.author_mode is not None:
            changed.append(AUTHORS)
            after = _with_authors(after, edit)
        if changed:
            before["fields"] = {name: document.fields.get(name) for name in changed}
        if edit.term_mode is not None:
            before["terms"] = [*document.taxonomy_term_ids]
            after = after.with_terms(_terms_after(document, edit))
        return after

    if edit.changes_content:
        post = edit_post(post_id=post.pk, actor=actor, edit=change)
    made: JsonObject = {}
    for name, value in edit.parts.items():
        part = bulk_edit_parts.get(name)
        outcome = part.run(post, value, actor) if part is not None else None
        if outcome is not None:
            made[name] = outcome
    is_changed = post.version != version
    if not is_changed and not made:
        item.outcome = JobOutcome.UNCHANGED
        return
    item.before = {**(before if is_changed else {}), "parts": made}
    item.version, item.outcome = post.version, JobOutcome.DONE


def _terms_after(document: PostDocument, edit: BulkEdit) -> list[str]:
    """Return the terms of the post after the edit. Raises `RuleViolation` for terms of another language."""
    current, chosen = set(document.taxonomy_term_ids), set(edit.term_ids)
    if edit.term_mode == "remove":
        return [*(current - chosen)]
    terms = {str(term.pk): term for term in Term.objects.filter(pk__in=current | chosen)}
    foreign = [
        terms[id_].name
        for id_ in sorted(chosen & terms.keys())
        if terms[id_].locale not in ("", document.locale)
    ]
    if foreign:
        message = _("These terms belong to another language: %(names)s.")
        raise invalid(TERMS, message % {"names": ", ".join(foreign)})
    if edit.term_mode == "replace":
        replaced = {terms[id_].taxonomy for id_ in chosen & terms.keys()}
        current = {
            id_ for id_ in current if id_ not in terms or terms[id_].taxonomy not in replaced
        }
    return [*(current | chosen)]


def undo_bulk_edit(item: PostJobItem, actor: Actor) -> None:
    """Restore what the edit changed in a post. Raises `Conflict` if its content was changed since."""
    with _as_refusal():
        try:
            post = lock_post(item.post, actor)
        except NotFound:
            raise Conflict(_("The post no longer exists.")) from None
        fields, terms = item.before.get("fields"), item.before.get("terms")
        if fields is not None or terms is not None:
            if post.version != item.version:
                message = _("The post was changed in the meantime.")
                raise Conflict(message, current=post.version)
            _restore(post, fields or {}, terms, actor)
        for name, made in item.before["parts"].items():
            part = bulk_edit_parts.get(name)
            if part is not None:
                part.undo(post, made, actor)


def _restore(
    post: Post, fields: Mapping[str, Json], terms: Sequence[str] | None, actor: Actor
) -> None:
    now = timezone.now()

    def restore(document: PostDocument) -> PostDocument:
        values: JsonObject = {}
        for name, value in fields.items():
            moment = parse_moment(value) if name in SCHEDULE_FIELDS else None
            # A date that passed meanwhile cannot be set again.
            values[name] = None if moment is not None and moment <= now else value
        document = document.with_fields(values)
        return document if terms is None else document.with_terms(terms)

    edit_post(post_id=post.pk, actor=actor, edit=restore)


@contextmanager
def _as_refusal() -> Iterator[None]:
    """Turn `NotAllowed` into the refusal of one post. Permissions that concern all posts were checked before."""
    try:
        yield
    except NotAllowed as error:
        raise RuleViolation(error.message, code=error.code) from None


def selected_ids(text: str) -> list[UUID]:
    """Return the ids of a selection, as a form sends them; ids that are malformed are left out."""
    found = (parse_uuid(part) for part in text.split())
    return list(dict.fromkeys(id_ for id_ in found if id_ is not None))
