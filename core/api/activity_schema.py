"""The OpenAPI descriptions of the activity log."""

from __future__ import annotations

from typing import Final

from rest_framework import serializers

from core.activity.sentences import DOORS
from core.api.schema import PAGES, UUID_TEXT, MetaSchema, PersonSchema, choice, query, whole

_ID: Final = whole(0, 2**63 - 1)
PATHS: Final = {"entry_id": _ID}
_CHOSEN: Final = [
    query(
        "event", "The name of an event, like post.published, or the first part of names, like post."
    ),
    query("actor", "The id of an account.", _ID),
    query("via", "The door.", choice(*DOORS)),
    query("agentId", "The id of an agent.", {"type": "string", "maxLength": 80}),
    query("postId", "What happened to this post.", UUID_TEXT),
    query("from", "Date or time (ISO 8601) of the oldest."),
    query("to", "Date or time (ISO 8601) of the newest; a date is its end."),
    query("before", "The id of an entry: only older ones.", _ID),
]
LIST: Final = [*_CHOSEN, *PAGES]
EXPORT: Final = [*_CHOSEN, query("format", "The kind of file.", choice("csv", "jsonl"))]
FILES: Final = {
    (200, "text/csv"): {"type": "string", "description": "A header, then a line for each entry."},
    (200, "application/jsonl"): {"type": "string", "description": "An entry in each line."},
}


class SealSchema(serializers.Serializer[object]):
    """The entry's link in the chain."""

    seq = serializers.IntegerField(min_value=1)
    hash = serializers.CharField()
    sealedAt = serializers.DateTimeField()


class EntrySchema(serializers.Serializer[object]):
    """Something that somebody did. Of what visitors wrote, and of secrets, nothing is shown."""

    id = serializers.IntegerField(min_value=1)
    uid = serializers.UUIDField()
    event = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of that name
    sentence = serializers.CharField()
    createdAt = serializers.DateTimeField()
    actor = PersonSchema()
    via = serializers.CharField()
    door = serializers.CharField()
    credential = serializers.CharField(allow_blank=True)
    agentId = serializers.CharField(allow_null=True)
    runId = serializers.CharField(allow_null=True)
    postId = serializers.UUIDField(allow_null=True)
    postTitle = serializers.CharField(allow_null=True)
    causeId = serializers.IntegerField(allow_null=True)
    private = serializers.BooleanField()
    forgottenAt = serializers.DateTimeField(allow_null=True)
    payload = serializers.DictField()
    seal = SealSchema(allow_null=True)


class ActivityListSchema(serializers.Serializer[object]):
    """Entries, newest first."""

    data = EntrySchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()
