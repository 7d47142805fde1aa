"""The OpenAPI descriptions of revisions and provenance."""

from __future__ import annotations

from rest_framework import serializers

from content.api.schema.documents import DocumentSchema
from content.api.schema.review import VIAS, DifferenceSchema
from core.api.schema import PAGES, UUID_TEXT, MetaSchema, PersonSchema, query

COMPARE_PARAMETERS = [
    query("from", "Id of a revision.", UUID_TEXT, required=True),
    query("to", "Id of a revision.", UUID_TEXT, required=True),
]
LIST_PARAMETERS = PAGES
PROVENANCE_PARAMETERS = [query("path", "Only this path.", {"type": "string"}), *PAGES]


class RevisionSchema(serializers.Serializer[object]):
    """A version of the live content, and who made it."""

    id = serializers.UUIDField()
    version = serializers.IntegerField(min_value=0)
    layer = serializers.ChoiceField(choices=["source"])
    reason = serializers.CharField()
    note = serializers.CharField(allow_blank=True)
    by = PersonSchema()
    agentId = serializers.CharField(allow_null=True)  # names of the wire
    runId = serializers.CharField(allow_null=True)
    createdAt = serializers.DateTimeField()
    changedPaths = serializers.ListField(child=serializers.CharField())


class WholeRevisionSchema(RevisionSchema):
    """A revision with its content."""

    document = DocumentSchema()


class RevisionListSchema(serializers.Serializer[object]):
    """Revisions, newest first."""

    data = RevisionSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class ComparisonSchema(serializers.Serializer[object]):
    """What changed between two revisions."""

    to = serializers.UUIDField()
    changes = DifferenceSchema(many=True)

    def get_fields(self) -> dict[str, serializers.Field]:  # type: ignore[type-arg]  # of any type
        return {"from": serializers.UUIDField(), **super().get_fields()}  # a word of Python


class ProvenanceSchema(serializers.Serializer[object]):
    """Who wrote and who approved what stands at a path."""

    path = serializers.CharField()
    author = PersonSchema()
    agentId = serializers.CharField(allow_null=True)
    runId = serializers.CharField(allow_null=True)
    via = serializers.ChoiceField(choices=VIAS)
    principal = serializers.CharField(allow_null=True)  # the credential of an AI client
    editedBy = serializers.CharField(allow_null=True)
    approvedBy = PersonSchema()
    revisionId = serializers.UUIDField()
    writtenAt = serializers.DateTimeField()
    publishedAt = serializers.DateTimeField()


class ProvenanceListSchema(serializers.Serializer[object]):
    """Provenance, the latest first."""

    data = ProvenanceSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()
