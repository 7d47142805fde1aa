"""The OpenAPI descriptions of redirects and of resolving an address."""

from __future__ import annotations

from typing import Annotated, NotRequired

from django.conf import settings
from pydantic import Field
from rest_framework import serializers
from typing_extensions import TypedDict

from content.api.delivery import DeliveredPostAnswer
from core.api.schema import PAGES, MetaSchema, choice, query
from seo.models import ADDRESS_MAX, RedirectType

REDIRECT_PARAMETERS = [
    query("search", "Words in fromPath or toPath."),
    query("type", "301 or 302.", choice("301", "302")),
    query("automatic", "true: those that came with the move of a post.", choice("true", "false")),
    query("locale", "Language of the address.", choice(*settings.CMS_ENV.locales)),
    query("active", "Whether it leads on.", choice("true", "false")),
    *PAGES,
]
STEPS = ["address", "locale", "system", "post", "list", "form", "redirect", "pattern"]
OUTCOMES = ["page", "list", "system", "moved", "redirect", "nothing"]
PATH_PARAMETER = [
    query(
        "path",
        "A path of the site, like /de/blog/x.",
        {"type": "string", "pattern": "^/", "maxLength": ADDRESS_MAX},
        required=True,
    )
]


class RedirectSchema(serializers.Serializer[object]):
    """A redirect. `locale` is that of the address it leads from."""

    id = serializers.UUIDField()
    fromPath = serializers.CharField()  # names of the wire
    toPath = serializers.CharField()
    type = serializers.ChoiceField(choices=RedirectType.values)
    locale = serializers.CharField()
    active = serializers.BooleanField()
    automatic = serializers.BooleanField()
    hits = serializers.IntegerField(min_value=0)
    createdAt = serializers.DateTimeField()
    updatedAt = serializers.DateTimeField()


class RedirectListSchema(serializers.Serializer[object]):
    """Redirects, latest first."""

    data = RedirectSchema(many=True)  # type: ignore[assignment]  # a field of that name
    meta = MetaSchema()


class RedirectGoneSchema(serializers.Serializer[object]):
    """The redirect that was deleted."""

    id = serializers.UUIDField()


REDIRECT_CSV = {
    (200, "text/csv"): {
        "type": "string",
        "description": "fromPath, toPath, type, active, automatic, hits, locale; a line for each.",
    }
}


class RedirectProblemSchema(serializers.Serializer[object]):
    """A line that is refused; `field` is null where it is the whole line."""

    line = serializers.IntegerField(min_value=1)
    field = serializers.CharField(allow_null=True)
    message = serializers.CharField()


class RedirectImportSchema(serializers.Serializer[object]):
    """What an import did, or would do."""

    dryRun = serializers.BooleanField()
    created = serializers.IntegerField(min_value=0)
    changed = serializers.IntegerField(min_value=0)
    unchanged = serializers.IntegerField(min_value=0)
    errors = RedirectProblemSchema(many=True)  # type: ignore[assignment]  # a field of that name


class TargetAnswer(TypedDict):
    """Where visitors are led."""

    toPath: str
    status: Annotated[int, Field(json_schema_extra={"enum": list(RedirectType.values)})]


class ResolvedAnswer(TypedDict):
    """What stands at a path: `post` or `redirect`, as `type` says."""

    type: Annotated[str, Field(json_schema_extra={"enum": ["post", "redirect"]})]
    post: NotRequired[DeliveredPostAnswer]
    redirect: NotRequired[TargetAnswer]


class SitemapSchema(serializers.Serializer[object]):
    """What is kept of the sitemap; `cached` says whether it is fresh. Without one, noughts."""

    urls = serializers.IntegerField(min_value=0)
    builtAt = serializers.DateTimeField(allow_null=True)
    cached = serializers.BooleanField()
    parts = serializers.IntegerField(min_value=0)


class PopulatedSchema(serializers.Serializer[object]):
    """How many posts were given a canonical address."""

    updated = serializers.IntegerField(min_value=0)


class TraceStepSchema(serializers.Serializer[object]):
    """A step on the way."""

    step = serializers.ChoiceField(choices=STEPS)
    found = serializers.BooleanField()
    sentence = serializers.CharField()
    facts = serializers.DictField()


class TraceSchema(serializers.Serializer[object]):
    """How an address is answered, and why."""

    path = serializers.CharField()
    outcome = serializers.ChoiceField(choices=OUTCOMES)
    status = serializers.ChoiceField(choices=[200, 301, 302, 404])
    location = serializers.CharField(allow_null=True)
    steps = TraceStepSchema(many=True)
