"""`/api/briefs`: editorial briefs, the one that holds for a text, and their versions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar, Final
from uuid import UUID

from django.conf import settings
from drf_spectacular.utils import extend_schema
from pydantic import Field
from pydantic.alias_generators import to_camel
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.briefs.brief_fields import (
    BriefAnswer,
    BriefChanges,
    BriefGuidanceAnswer,
    BriefPlaceAnswer,
    BriefValuesAnswer,
    NewBrief,
)
from proofroom.briefs.effective import EffectiveBrief, get_effective_brief
from proofroom.briefs.models import SECTION_MAX, Brief
from proofroom.briefs.sections import normalize_section
from proofroom.briefs.services import (
    EDIT,
    FIELDS,
    VIEW,
    change_brief,
    create_brief,
    delete_brief,
    find_brief,
    find_version,
    list_versions,
    restore_brief,
)
from proofroom.core.api.answer import (
    Answer,
    PersonAnswer,
    list_of,
)
from proofroom.core.api.body import Body, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import choice_in
from proofroom.core.api.schema import LOCATION, PAGES, query_parameter
from proofroom.core.api.views import ApiViewSet, expected_version
from proofroom.core.errors import NotFound, invalid
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import is_one_line
from proofroom.definitions import find_post_type
from proofroom.shared_content.models import SharedRevision

BRIEF_PARAMETERS: Final = [
    query_parameter("locale", "Briefs for exactly this language; all without it."),
    query_parameter("type", "Briefs for exactly this post type; all without it."),
    *PAGES,
]
EFFECTIVE_PARAMETERS: Final = [
    query_parameter("type", "Post type; without it, the briefs for all types."),
    query_parameter("locale", "Language; without it, the briefs for all languages."),
    query_parameter("section", "An address, or its leading path; without it, the whole site."),
]


class BriefSourceAnswer(BriefPlaceAnswer):
    """A brief that an effective brief comes from."""

    id: UUID
    name: str
    version: int = Field(ge=1)


class EffectiveBriefAnswer(BriefGuidanceAnswer, BriefPlaceAnswer):
    """What holds for a text. `markdown` is what agents read; empty if no brief says anything."""

    markdown: str
    sources: list[BriefSourceAnswer] = Field(description="Narrowest first.")


class BriefVersionAnswer(Answer):
    """A version of a brief. `changed` are its fields that differ from the version before."""

    version: int = Field(ge=1)
    reason: str = Field(description="created, edited or reverted.")
    by: PersonAnswer
    changed: list[str]
    created_at: datetime | None


class BriefVersionInFullAnswer(BriefVersionAnswer, BriefValuesAnswer):
    """A version of a brief with its values."""


class BriefGoneAnswer(Answer):
    """The brief that was deleted."""

    id: UUID


class BriefRestore(Body):
    """Restores a version."""

    version: int | None = Field(None, ge=0, description="The version you last read.")


class BriefViewSet(ApiViewSet):
    """Briefs: list, create, read, change, delete."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": VIEW,
        "retrieve": VIEW,
        "effective": VIEW,
        "create": EDIT,
        "update": EDIT,
        "destroy": EDIT,
    }
    conditional = frozenset({"list", "retrieve"})

    @extend_schema(
        parameters=BRIEF_PARAMETERS,
        responses=list_of(BriefAnswer, "Briefs, from the widest to the narrowest."),
    )
    def list(self, request: Request) -> Response:
        """List briefs, from the widest to the narrowest."""
        page = page_of(request)
        rows = Brief.objects.order_by("section", "type", "locale")
        locale = choice_in(request, "locale", settings.CMS_ENV.locales)
        if locale is not None:
            rows = rows.filter(locale=locale)
        if (type_ := _type_in(request)) is not None:
            rows = rows.filter(type=type_)
        found = [BriefAnswer.of(row) for row in rows[page.slice]]
        return Response(page.envelope(found, rows.count()))

    @extend_schema(request=NewBrief, responses={201: BriefAnswer}, parameters=[LOCATION])
    def create(self, request: Request) -> Response:
        """Create a brief; there is one for each language, post type and section."""
        row = create_brief(actor=self.actor, brief=read_body(request, NewBrief))
        headers = {"Location": f"/api/briefs/{row.pk}"}
        return Response(BriefAnswer.of(row), status=201, headers=headers)

    @extend_schema(responses=BriefAnswer)
    def retrieve(self, request: Request, brief_id: str) -> Response:
        """Return one brief."""
        return Response(BriefAnswer.of(find_brief(brief_id)))

    @extend_schema(request=BriefChanges, responses=BriefAnswer)
    def update(self, request: Request, brief_id: str) -> Response:
        """Change a brief; absent fields are unchanged, lists replace the stored ones."""
        body = read_body(request, BriefChanges)
        row = change_brief(
            brief_id=brief_id,
            actor=self.actor,
            changes=body,
            expected_version=expected_version(request, body.version),
        )
        return Response(BriefAnswer.of(row))

    @extend_schema(responses={200: BriefGoneAnswer})
    def destroy(self, request: Request, brief_id: str) -> Response:
        """Delete a brief with its versions."""
        return Response(BriefGoneAnswer(id=delete_brief(brief_id=brief_id, actor=self.actor)))

    @extend_schema(parameters=EFFECTIVE_PARAMETERS, responses=EffectiveBriefAnswer)
    def effective(self, request: Request) -> Response:
        """Return what holds for texts of a post type, language and section, combined from all briefs."""
        # An empty value means none in particular, as in the address of this endpoint's description.
        query = request.query_params
        known = settings.CMS_ENV.locales
        locale = choice_in(request, "locale", known) if query.get("locale") else None
        type_ = _type_in(request) if query.get("type") else None
        section = query.get("section", "")
        if not is_one_line(section) or len(section) > SECTION_MAX:
            raise invalid("section", f"section must be a path of at most {SECTION_MAX} characters.")
        found = get_effective_brief(post_type=type_, locale=locale, section=section)
        return Response(
            EffectiveBriefAnswer(
                type=type_,
                locale=locale,
                section=normalize_section(section),
                markdown=found.to_markdown(),
                **effective_values(found),
            )
        )


class BriefVersionViewSet(ApiViewSet):
    """The versions of a brief."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": VIEW,
        "retrieve": VIEW,
        "restore": EDIT,
    }

    @extend_schema(
        parameters=PAGES, responses=list_of(BriefVersionAnswer, "Versions, newest first.")
    )
    def list(self, request: Request, brief_id: str) -> Response:
        """List the versions of a brief, newest first, without their values."""
        page = page_of(request)
        rows = list_versions(find_brief(brief_id))
        # One more, because each version is compared with the one before.
        listed = [*rows[page.slice.start : page.slice.stop + 1]]
        found = [
            BriefVersionAnswer(**_signature(row, earlier))
            for row, earlier in zip(listed[: page.size], [*listed[1:], None], strict=False)
        ]
        return Response(page.envelope(found, rows.count()))

    @extend_schema(responses=BriefVersionInFullAnswer)
    def retrieve(self, request: Request, brief_id: str, version: str) -> Response:
        """Return a version with its values."""
        brief = find_brief(brief_id)
        row = find_version(brief, _version_number(version))
        earlier = list_versions(brief).filter(version__lt=row.version).first()
        return Response(BriefVersionInFullAnswer(**_signature(row, earlier), **_values_of(row)))

    @extend_schema(request=BriefRestore, responses={200: BriefAnswer})
    def restore(self, request: Request, brief_id: str, version: str) -> Response:
        """Write the values of a version to the brief, as a new version."""
        body = read_body(request, BriefRestore)
        row = restore_brief(
            brief_id=brief_id,
            version=_version_number(version),
            actor=self.actor,
            expected_version=expected_version(request, body.version),
        )
        return Response(BriefAnswer.of(row))


def effective_values(found: EffectiveBrief) -> dict[str, Any]:
    """Return the values of an effective brief in the shape of the API."""
    return {
        "audience": found.audience,
        "voice": found.voice,
        "address": found.address,
        "reading_level": found.reading_level,
        "never": [*found.never],
        "terms": [term.to_stored() for term in found.terms],
        "protected_names": [*found.protected_names],
        "examples": [{"before": one.before, "after": one.after} for one in found.examples],
        "sources": [BriefSourceAnswer.of(source) for source in found.sources],
    }


def changed_fields(document: JsonObject, earlier: JsonObject | None) -> Sequence[str]:
    """Return the fields of a version that differ from the one before; none for the first version."""
    if earlier is None:
        return []
    return [name for name in FIELDS if document.get(name) != earlier.get(name)]


def _signature(row: SharedRevision, earlier: SharedRevision | None) -> dict[str, Any]:
    changed = changed_fields(row.document, earlier.document if earlier else None)
    return {
        "version": row.version,
        "reason": row.reason,
        "by": PersonAnswer(id=row.by_id, username=row.by_name or None),
        "changed": [to_camel(name) for name in changed],
        "created_at": row.created_at,
    }


def _values_of(row: SharedRevision) -> dict[str, Any]:
    # A version from before a field existed has no value of it.
    empty = Brief()
    return {name: row.document.get(name, getattr(empty, name)) for name in FIELDS}


def _type_in(request: Request) -> str | None:
    """Return the `type` of the query. Raises `RuleViolation` for an unknown one."""
    type_ = request.query_params.get("type")
    return None if type_ is None else find_post_type(type_).name


def _version_number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise NotFound("The brief has no such version.")
    return int(text)
