"""The OpenAPI descriptions of the agents' endpoints."""

from __future__ import annotations

from typing import get_args

from drf_spectacular.utils import OpenApiExample
from rest_framework import serializers

from agents_app.definitions.reading import AccountState
from agents_app.definitions.schema import Scope
from agents_app.models import RunStatus
from agents_app.runs.wait import MAX_WAIT_SECONDS
from core.api.schema import (
    LOCATION,
    PAGES,
    UUID_TEXT,
    MetaSchema,
    PersonSchema,
    choice,
    query,
    whole,
)
from core.definition_files import ID_MAX, ID_PATTERN

SCOPES = [(scope.value, scope.value) for scope in Scope]
ACCOUNT_STATES = [(state, state) for state in get_args(AccountState)]
AGENT_ID = {
    "agent_id": {"type": "string", "pattern": ID_PATTERN, "maxLength": ID_MAX},
}
WAIT = [query("wait", "Seconds to wait for the result.", whole(0, MAX_WAIT_SECONDS, 0))]
MADE_WAITING = [*WAIT, LOCATION]
RUN_EXAMPLE = OpenApiExample(
    "With words of the caller",
    {"openEndedContext": "Make the title shorter."},
    request_only=True,
)
AGENT_PARAMETERS = [
    query("scope", "Where it runs.", {**choice(*Scope), "default": Scope.DROPDOWN.value}),
    query("fieldType", "For the scope field: a field type."),
    query("fieldKey", "For the scope field: a field, such as post.title."),
    query("formSlug", "For the scope form.submit: a form."),
    *PAGES,
]
RUN_PARAMETERS = [
    query("postId", "Runs on a post.", UUID_TEXT),
    query("agentId", "Runs of an agent."),
    query("status", "Status.", choice(*RunStatus.values)),
    query("scope", "Runs of a scope.", choice(*Scope)),
    query("batchId", "Runs of a batch.", UUID_TEXT),
    query("causeRun", "Runs that this run started.", UUID_TEXT),
    *PAGES,
]


class ScopeEntrySchema(serializers.Serializer[object]):
    """Where an agent runs; a list that is absent does not limit it."""

    scope = serializers.ChoiceField(choices=SCOPES)
    order = serializers.IntegerField()
    enabled = serializers.BooleanField()
    fieldTypes = serializers.ListField(child=serializers.CharField(), required=False)
    fieldKeys = serializers.ListField(child=serializers.CharField(), required=False)
    formSlugs = serializers.ListField(child=serializers.CharField(), required=False)


class OpenEndedSchema(serializers.Serializer[object]):
    """Whether an agent takes words of the caller, and how they are asked for."""

    enabled = serializers.BooleanField()
    label = serializers.CharField(required=False)  # type: ignore[assignment]  # a field of that name
    placeholder = serializers.CharField(required=False)
    maxChars = serializers.IntegerField(required=False, min_value=1)


class AgentSchema(serializers.Serializer[object]):
    """An agent."""

    id = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField(allow_blank=True)
    scopes = ScopeEntrySchema(many=True)
    openEndedContext = OpenEndedSchema()  # names of the wire


class AnsweringSchema(serializers.Serializer[object]):
    """Who would answer at present, or why nobody would."""

    provider = serializers.CharField(allow_null=True)
    model = serializers.CharField(allow_null=True)
    problem = serializers.CharField(allow_null=True)


class AgentAccountSchema(serializers.Serializer[object]):
    """What an agent writes under: its own account, the system's, one that is off, or one still to be made."""

    state = serializers.ChoiceField(choices=ACCOUNT_STATES)
    username = serializers.CharField(allow_blank=True)


class OneAgentSchema(AgentSchema):
    """An agent, with who would answer, the tools that it may use, and what its file names that nobody knows."""

    enabled = serializers.BooleanField()
    definedIn = serializers.CharField()
    text = AnsweringSchema()
    media = AnsweringSchema(allow_null=True)
    tools = serializers.ListField(child=serializers.CharField())
    reactions = serializers.IntegerField()
    account = AgentAccountSchema()
    doubts = serializers.ListField(child=serializers.CharField())


class AgentListSchema(serializers.Serializer[object]):
    """Agents."""

    data = AgentSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class UsageSchema(serializers.Serializer[object]):
    """Tokens of a run."""

    inputTokens = serializers.IntegerField()
    outputTokens = serializers.IntegerField()


class StepSchema(serializers.Serializer[object]):
    """One question to the model, or one call of a tool."""

    n = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=["model", "tool"])
    name = serializers.CharField()
    ok = serializers.BooleanField()
    ms = serializers.IntegerField()
    summary = serializers.CharField(allow_blank=True)


class RunSchema(serializers.Serializer[object]):
    """A run of an agent."""

    id = serializers.UUIDField()
    agentId = serializers.CharField()
    scope = serializers.ChoiceField(choices=SCOPES)
    postId = serializers.UUIDField(allow_null=True)
    status = serializers.ChoiceField(choices=RunStatus.choices)
    createdAt = serializers.DateTimeField()
    startedAt = serializers.DateTimeField(allow_null=True)
    finishedAt = serializers.DateTimeField(allow_null=True)
    revertedAt = serializers.DateTimeField(allow_null=True)
    by = PersonSchema()
    via = serializers.CharField()
    batchId = serializers.UUIDField(allow_null=True)
    retryOf = serializers.UUIDField(
        allow_null=True, help_text="The first of the runs that repeat one another."
    )
    note = serializers.CharField(allow_blank=True, help_text="What was said of the try before.")
    doing = serializers.CharField(allow_blank=True, help_text="What it does at present, in words.")
    hasReadUntrusted = serializers.BooleanField(
        help_text="Whether it read words of visitors or other sites, and may only read since."
    )
    provider = serializers.CharField(allow_null=True)
    model = serializers.CharField(allow_null=True)
    usage = UsageSchema()
    cost = serializers.FloatField(allow_null=True)
    summary = serializers.CharField(allow_blank=True)
    staged = serializers.ListField(child=serializers.CharField())
    error = serializers.CharField(allow_null=True)
    steps = StepSchema(many=True)
    fieldKey = serializers.CharField(required=False)
    value = serializers.JSONField(required=False)


class RunListSchema(serializers.Serializer[object]):
    """Runs, latest first."""

    data = RunSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class RejectedPostSchema(serializers.Serializer[object]):
    """A post that got no run."""

    id = serializers.CharField()
    error = serializers.CharField()


class BulkRunsSchema(serializers.Serializer[object]):
    """The runs on several posts, and the posts that got none."""

    batchId = serializers.UUIDField()
    data = RunSchema(many=True)  # type: ignore[assignment]  # a field of that name
    rejected = RejectedPostSchema(many=True)


class RevertedPostSchema(serializers.Serializer[object]):
    """What reverting a run did in one post."""

    postId = serializers.UUIDField()
    reverted = serializers.ListField(child=serializers.CharField())
    kept = serializers.ListField(child=serializers.CharField())
    unstaged = serializers.ListField(child=serializers.CharField())


class RevertedSchema(serializers.Serializer[object]):
    """What reverting a run did: paths taken back, kept because people changed them, and no longer staged.

    First those of all posts, then by post; `deletedPosts` are those that the run made and nobody touched.
    """

    runId = serializers.UUIDField()
    reverted = serializers.ListField(child=serializers.CharField())
    kept = serializers.ListField(child=serializers.CharField())
    unstaged = serializers.ListField(child=serializers.CharField())
    posts = RevertedPostSchema(many=True)
    deletedPosts = serializers.ListField(child=serializers.UUIDField())
