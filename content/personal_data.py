"""Personal data in content: authors and editors of posts, and addresses in the texts of the site."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from django.apps import apps
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext_lazy

from content.models.edited_proposal import EDITED_PROPOSALS_KEPT
from content.models.rejected_change import KEPT
from content.posts.autosave import LIFETIME
from proofroom.core.actor import Actor
from proofroom.core.json import Json, JsonObject
from proofroom.core.privacy.browser_storage import Audience, StorageKind, StoredItem
from proofroom.core.privacy.kinds import Erasure, PersonalDataKind, Table, TableKind
from proofroom.core.privacy.person import Person
from proofroom.core.privacy.retention import Retention

_HISTORY: Final = gettext_lazy("The history of a post stays. It shows “Former member”.")


class MarkAuthors(PersonalDataKind):
    """The names of authors and editors of staged values, which are part of a JSON column.

    `within` is the key of the marks in the column; empty if the column has only marks.
    """

    label = gettext_lazy("Changes of this person in Review and AI Review")
    erasure = Erasure.PSEUDONYMISED
    reason = _HISTORY

    def __init__(self, name: str, model: str, column: str, within: str = "") -> None:
        self.name, self.models = name, (model,)
        self._column, self._within = column, within

    def count(self, person: Person) -> int:
        return sum(1 for _row in self._rows(person))

    def records(self, person: Person) -> Iterator[JsonObject]:
        for row in self._rows(person):
            own = [path for path, mark in self._marks(row).items() if _is_theirs(mark, person)]
            layer: JsonObject = {"layer": row.layer} if hasattr(row, "layer") else {}
            yield {
                "record": str(self.label),
                "id": str(row.pk),
                "post": str(row.post_id),
                **layer,
                "paths": [*own],
            }

    def erase(self, person: Person, actor: Actor) -> int:
        count = 0
        # All first: rows must not change while they are read.
        for row in list(self._rows(person, locked=True)):
            before = self._marks(row)
            marks = {path: _rename(mark, person) for path, mark in before.items()}
            if marks != before:
                value = getattr(row, self._column)
                changed = {**value, self._within: marks} if self._within else marks
                type(row)._default_manager.filter(pk=row.pk).update(**{self._column: changed})
                count += 1
        return count

    def _marks(self, row: Any) -> dict[str, dict[str, Json]]:
        value = getattr(row, self._column)
        marks: dict[str, dict[str, Json]] = value[self._within] if self._within else value
        return marks

    def _rows(self, person: Person, *, locked: bool = False) -> Iterator[Any]:
        if person.user_id is None:
            return
        rows: QuerySet[Any] = apps.get_model(self.models[0])._default_manager.all()
        if locked:
            rows = rows.select_for_update(no_key=True)
        # Both spellings of the name in stored JSON, and the id; the marks decide.
        named = Q(text__contains=json.dumps(person.username)[1:-1])
        named |= Q(text__contains=person.username) | Q(
            text__contains=f'"user_id": {person.user_id}'
        )
        named |= Q(text__contains=f'"user_id":{person.user_id}')
        found = rows.alias(text=Cast(self._column, TextField()))
        for row in found.filter(named).order_by("pk").iterator(chunk_size=200):
            if any(_is_theirs(mark, person) for mark in self._marks(row).values()):
                yield row


def _is_theirs(mark: dict[str, Json], person: Person) -> bool:
    return mark.get("user_id") == person.user_id or mark.get("edited_by") == person.username


def _rename(mark: dict[str, Json], person: Person) -> dict[str, Json]:
    changed = dict(mark)
    if mark.get("user_id") == person.user_id:
        changed["user"] = person.pseudonym
    if mark.get("edited_by") == person.username:
        changed["edited_by"] = person.pseudonym
    return changed


KINDS: Final = (
    TableKind(
        "content.work",
        gettext_lazy("Unsaved copies and open editors"),
        Table("content.Autosave", ("saved_at", "layer", "entries"), owners=("user",)),
        Table("content.EditingMark", ("since", "seen_at", "layer"), owners=("user",)),
        erasure=Erasure.DELETED,
    ),
    MarkAuthors("content.drafts", "content.Draft", "marks"),
    MarkAuthors("content.rejections", "content.RejectedChange", "proposal", "marks"),
    TableKind(
        "content.posts",
        gettext_lazy("Posts that this person created or is an author of"),
        Table(
            "content.Post",
            ("title", "type", "locale", "status", "created_at", "published_at"),
            owners=("author",),
        ),
        Table("content.PostAuthor", ("post_id",), owners=("user",)),
        erasure=Erasure.KEPT,
        reason=gettext_lazy(
            "Posts stay under “Former member”. The name that readers saw is deleted with the account."
        ),
    ),
    TableKind(
        "content.history",
        gettext_lazy("Revisions, approvals and bulk changes"),
        Table(
            "content.Revision",
            ("post_id", "reason", "note", "created_at"),
            owners=("by",),
            names={"by_name": "by"},
        ),
        Table(
            "content.Provenance",
            ("post_id", "path", "written_at"),
            owners=("author", "approved_by"),
            names={
                "author_name": "author",
                "approved_by_name": "approved_by",
                "edited_by_name": "",
            },
        ),
        Table(
            "content.EditedProposal",
            ("post_id", "path", "proposed_at", "decided_at"),
            owners=("author", "edited_by", "decided_by"),
            names={
                "author_name": "author",
                "edited_by_name": "edited_by",
                "decided_by_name": "decided_by",
            },
        ),
        Table(
            "content.QueuedChange",
            ("post_id", "path", "at"),
            owners=("author_account",),
            names={"author_name": "author_account", "edited_by_name": ""},
        ),
        Table(
            "content.ScheduledApproval",
            ("post_id", "at", "created_at"),
            owners=("by",),
            names={"by_name": "by"},
        ),
        Table(
            "content.RejectedChange",
            ("post_id", "path", "taken_back_at"),
            names={"taken_back_by": ""},
        ),
        *(
            Table(model, ("state", "created_at"), owners=("by",), names={"by_name": "by"})
            for model in ("content.DecisionBatch", "content.PostJob", "content.Replacement")
        ),
        erasure=Erasure.PSEUDONYMISED,
        reason=_HISTORY,
    ),
    TableKind(
        "content.bulk-edits",
        gettext_lazy("Bulk edits: texts of assignments and replaced values with this address"),
        Table("content.PostJob", ("kind", "created_at"), texts=("edit",)),
        Table("content.PostJobItem", ("outcome",), texts=("before",)),
        erasure=Erasure.MASKED,
        reason=gettext_lazy("Undoing the bulk edit does not bring the address back."),
        # After the texts of the site were changed with it.
        order=60,
    ),
    TableKind(
        "content.settings",
        gettext_lazy(
            "Drafts, URL patterns and moves that this person changed last, and locked pages"
        ),
        Table("content.Draft", ("post_id", "layer", "updated_at"), owners=("updated_by",)),
        Table("content.UrlPattern", ("type", "locale", "updated_at"), owners=("changed_by",)),
        Table("content.TreeMove", ("post_id", "created_at"), owners=("changed_by",)),
        Table("content.Post", ("title", "locked_until"), owners=("locked_by",)),
        erasure=Erasure.KEPT,
        reason=gettext_lazy("They refer to the account without its name."),
    ),
    TableKind(
        "content.replacements",
        gettext_lazy("Find and replace: replaced texts with this address"),
        Table("content.Replacement", ("find", "replace", "created_at"), texts=("find", "replace")),
        Table("content.ReplacedPlace", ("table", "field", "before"), texts=("before", "after")),
        erasure=Erasure.MASKED,
        reason=gettext_lazy("Undoing the replacement does not bring the address back."),
        # After the texts of the site were changed with it.
        order=60,
    ),
    TableKind(
        "content.mentions",
        gettext_lazy("Posts, modules and drafts with this address in their text"),
        Table(
            "content.Post",
            ("title", "type", "locale", "path"),
            texts=(
                *("title", "excerpt", "meta_title", "meta_description", "byline"),
                *("custom_fields", "jsonld_overrides"),
            ),
        ),
        Table("content.ModuleInstance", ("type", "label", "global_slug"), texts=("props",)),
        Table("content.PostModule", ("post_id",), texts=("overrides",)),
        Table("content.Draft", ("post_id", "layer"), texts=("document",)),
        erasure=Erasure.KEPT,
        reason=gettext_lazy(
            "Texts of the site are changed by editors: use “Find and replace”, then delete old "
            "revisions with the post if it must not stay in the history."
        ),
    ),
    TableKind(
        "content.revision-mentions",
        gettext_lazy("Earlier revisions with this address in their text"),
        Table("content.Revision", ("post_id", "version", "created_at"), texts=("document", "note")),
        Table(
            "content.EditedProposal",
            ("post_id", "path", "decided_at"),
            texts=("proposed", "accepted"),
        ),
        erasure=Erasure.KEPT,
        reason=gettext_lazy("Revisions are deleted with their post."),
    ),
)
WITHOUT_PERSONAL_DATA: Final = (
    "content.AccessibilityReport",
    "content.CheckedAddress",
    "content.ContentLink",
    "content.ContentMigration",
    "content.CopyOrigin",
    "content.DecisionItem",
    "content.FieldValue",
    "content.ModuleGroup",
    "content.PostJobItem",
    "content.PostTerm",
    "content.SearchEntry",
    "content.SearchWord",
)
RETENTIONS: Final = (
    Retention(
        "trash",
        gettext_lazy("Deleted posts with their history"),
        setting="TRASH_DAYS",
        task_name="content.tasks.purge_trash",
    ),
    Retention(
        "rejections",
        gettext_lazy("Rejected changes"),
        fixed_days=KEPT.days,
        task_name="content.tasks.purge_trash",
    ),
    Retention(
        "edited-proposals",
        gettext_lazy("Proposals of agents that a person edited"),
        fixed_days=EDITED_PROPOSALS_KEPT.days,
        task_name="content.tasks.purge_trash",
    ),
    Retention(
        "live-changes",
        gettext_lazy("Addresses of changed pages, for frontends"),
        setting="CHANGES_KEEP_DAYS",
        task_name="content.tasks.prune_changes",
    ),
    Retention(
        "autosaves",
        gettext_lazy("Unsaved copies of open forms"),
        fixed_days=LIFETIME.days,
        task_name="content.tasks.purge_trash",
    ),
)
STORED_ITEMS: Final = (
    StoredItem(
        "cms:open:…, cms:place:…, cms:copied-modules, cms.live-preview, tree:…",
        StorageKind.LOCAL,
        Audience.STAFF,
        gettext_lazy("Remembers open modules, the place in the text and the size of the preview."),
        gettext_lazy("When a person edits posts"),
    ),
    StoredItem(
        "review-pane",
        StorageKind.LOCAL,
        Audience.STAFF,
        gettext_lazy("Remembers whether the pane beside a review is open."),
        gettext_lazy("When a person reviews changes"),
    ),
    StoredItem(
        "review:…",
        StorageKind.SESSION,
        Audience.STAFF,
        gettext_lazy("Keeps decisions about changes that were not sent yet."),
        gettext_lazy("When a person reviews changes"),
        0,
    ),
)
