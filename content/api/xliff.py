"""`/api/posts/:id/xliff` and `/api/xliff`: texts for translators as XLIFF 2, and their translations into Review."""

from __future__ import annotations

from typing import Any, ClassVar, Final
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from content.store.post_queries import require_post
from content.translations.xliff.exports import export_xliff
from content.translations.xliff.imports import FileReport, import_xliff
from content.translations.xliff.reader import MAX_BYTES
from media.services.files import TooLarge
from proofroom.core.api.answer import Answer
from proofroom.core.api.body import body_length
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid
from proofroom.core.validation.limits import LOCALE_MAX

_BYTES_BESIDE: Final = 64 * 1024
"""Maximum size in bytes of a request without the file."""
CONTENT_TYPE: Final = "application/xliff+xml"
LOCALE: Final = query_parameter(
    "locale",
    "The language to translate into.",
    {"type": "string", "minLength": 1, "maxLength": LOCALE_MAX},
    required=True,
)
ALL: Final = query_parameter(
    "all",
    "true: also texts whose translation is up to date.",
    {"type": "string", "enum": ["true", "false"], "default": "false"},
)
DRY_RUN: Final = query_parameter(
    "dryRun",
    "true: report only, store nothing.",
    {"type": "string", "enum": ["true", "false"], "default": "false"},
)
XLIFF_FILE: Final[dict[str, Any]] = {
    "multipart/form-data": {
        "type": "object",
        "properties": {"file": {"type": "string", "format": "binary"}},
        "required": ["file"],
        "additionalProperties": False,
    }
}


class XliffUnitAnswer(Answer):
    """A text that was not simply staged."""

    unit: str = Field(description="Its unit in the file, as `modules.<id>.props.<name>`.")
    label: str
    outcome: str = Field(description="stale (staged, but the source has changed) or failed.")
    message: str


class XliffPostAnswer(Answer):
    """The outcome of a post: the number of texts, and the ids of texts that need attention."""

    post_id: UUID
    title: str
    translation_id: UUID | None
    is_new: bool = Field(description="Whether the translation was created as a draft.")
    problem: str = Field(description="Why nothing of this post was imported; empty otherwise.")
    staged: int
    stale: int
    unchanged: int
    untranslated: int
    failed: int
    units: list[XliffUnitAnswer]


class XliffImportAnswer(Answer):
    """The posts of an imported file."""

    dry_run: bool
    posts: list[XliffPostAnswer]


class XliffViewSet(ApiViewSet):
    """Texts for translators as XLIFF 2."""

    parser_classes = (MultiPartParser,)
    permissions: ClassVar[dict[str, Declared]] = {
        "export": "posts.translate",
        "create": "posts.translate",
    }

    @extend_schema(parameters=[LOCALE, ALL], responses={(200, CONTENT_TYPE): OpenApiTypes.BINARY})
    def export(self, request: Request, post_id: str) -> HttpResponse:
        """Return the open texts of a post as XLIFF 2.0 for translation into a language."""
        post = require_post(post_id, self.actor)
        locale = request.query_params.get("locale", "")
        export = export_xliff(
            post_ids=[post.pk],
            locale=locale,
            actor=self.actor,
            has_all=_flag(request, "all"),
        )
        name = f"{post.slug or post.pk}.{post.locale}-{locale}.xlf"
        return xliff_response(export.content, name)

    @extend_schema(parameters=[DRY_RUN], request=XLIFF_FILE, responses={200: XliffImportAnswer})
    def create(self, request: Request) -> Response:
        """Stage the translations of an XLIFF 2 file in Review. Nothing goes live."""
        file = _read_file(request)
        is_dry_run = _flag(request, "dryRun")
        # One byte more than allowed is enough to be refused.
        reports = import_xliff(
            content=file.read(MAX_BYTES + 1), actor=self.actor, is_dry_run=is_dry_run
        )
        return Response(
            XliffImportAnswer(dry_run=is_dry_run, posts=[answer_of(one) for one in reports])
        )


def _read_file(request: Request) -> UploadedFile[bytes]:
    """Return the single file of the body. Too large a body is refused before it is read."""
    if body_length(request) > MAX_BYTES + _BYTES_BESIDE:
        message = f"The file is larger than {MAX_BYTES // 1024**2} MB."
        raise TooLarge(message, details={"file": ["too large"]})
    for name in (*request.data, *request.FILES):
        if name != "file":
            raise invalid(name[:80], "There is no field of that name here; known: file.")
    files = request.FILES.getlist("file")
    if len(files) != 1:
        raise invalid("file", "Send one file at a time." if files else "file must be a file.")
    found: UploadedFile[bytes] = files[0]
    return found


def xliff_response(content: bytes, name: str) -> HttpResponse:
    """Return a file for download. The name must contain no quotation marks."""
    return HttpResponse(
        content,
        content_type=CONTENT_TYPE,
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store, private",
        },
    )


def answer_of(report: FileReport) -> XliffPostAnswer:
    return XliffPostAnswer(
        post_id=UUID(report.post_id),
        title=report.title,
        translation_id=report.translation_id,
        is_new=report.is_new,
        problem=report.problem,
        staged=report.count("staged"),
        stale=report.count("stale"),
        unchanged=report.count("unchanged"),
        untranslated=report.count("untranslated"),
        failed=report.count("failed"),
        units=[
            XliffUnitAnswer(
                unit=unit.unit, label=unit.label, outcome=unit.outcome, message=unit.message
            )
            for unit in report.units
            if unit.message
        ],
    )


def _flag(request: Request, name: str) -> bool:
    value = request.query_params.get(name, "false")
    if value not in ("true", "false"):
        raise invalid(name, f"{name} must be true or false.")
    return value == "true"
