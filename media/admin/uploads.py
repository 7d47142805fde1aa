"""Endpoints for the scripts of the media pages: upload, import, state and description of files."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from media.admin.file_choice import choice_of
from media.queries import load_assets
from media.scopes import filter_visible_assets
from media.services.files import DuplicateFile, store_image
from media.services.update import update_asset
from media.services.web_import import import_image, store_pasted_image
from proofroom.core.admin.permissions import actor_of, require
from proofroom.core.errors import CmsError, invalid

_MOST_ASKED: Final = 100
_YES: Final = "1"


def upload_limits() -> dict[str, str]:
    """Return the limits for uploads, checked in the browser before a file is sent."""
    most, recording = (
        settings.CMS_ENV.media_max_bytes,
        settings.CMS_ENV.media_max_recording_bytes,
    )
    return {
        "upload_bytes": str(most),
        "upload_limit": f"{most / 1024 / 1024:g}",
        "recording_bytes": str(recording),
        "recording_limit": f"{recording / 1024 / 1024:g}",
    }


def _answers_json(view: Callable[..., JsonResponse]) -> Callable[..., HttpResponseBase]:
    """Decorate a view for scripts so that it returns errors of services as JSON."""

    @wraps(view)
    def answering(*args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(*args, **kwargs)
        except DuplicateFile as error:
            # A normal result, because the user decides whether to upload the file again.
            there = choice_of(error.asset).as_json()
            return JsonResponse({"message": error.message, "there": there})
        except CmsError as error:
            return JsonResponse({"message": error.message}, status=error.status)

    return answering


@require_POST
@_answers_json
def upload(request: HttpRequest) -> JsonResponse:
    """Store one file. A file that already exists is refused, unless `again` is set."""
    require(request, "media.upload")
    actor = actor_of(request)
    # `store_image` also accepts files of agents, but uploads are made by people.
    actor.require_person("upload files")
    files = request.FILES.getlist("file")
    if len(files) != 1:
        raise invalid("file", _("Send one file at a time."))
    file: UploadedFile[bytes] = files[0]
    category = request.POST.get("category", "")
    asset = store_image(
        file=file,
        filename=str(file.name or ""),
        categories=[category] if category else [],
        is_new_only=request.POST.get("again") != _YES,
        actor=actor,
    )
    return JsonResponse(choice_of(asset).as_json(), status=201)


@require_POST
@_answers_json
def import_pasted(request: HttpRequest) -> JsonResponse:
    """Store an image from pasted text: a `file`, or the one at `url`. `isNew` is false if it already existed."""
    require(request, "media.upload")
    files, url = request.FILES.getlist("file"), request.POST.get("url", "")
    if len(files) + bool(url) != 1:
        raise invalid("file", _("Send one file at a time."))
    language, alt_text = request.POST.get("language", ""), request.POST.get("alt_text", "")
    actor = actor_of(request)
    if url:
        asset, is_new = import_image(url=url, alt_text=alt_text, locale=language, actor=actor)
    else:
        file: UploadedFile[bytes] = files[0]
        asset, is_new = store_pasted_image(
            file=file,
            filename=str(file.name or ""),
            alt_text=alt_text,
            locale=language,
            actor=actor,
        )
    answer = {**choice_of(asset, language).as_json(), "isNew": is_new}
    return JsonResponse(answer, status=201 if is_new else 200)


@require_safe
@_answers_json
def states(request: HttpRequest) -> JsonResponse:
    """Return the state of the files `ids` by id; deleted files are left out."""
    require(request, "media.view")
    ids = request.GET.get("ids", "").split(",")[:_MOST_ASKED]
    found = filter_visible_assets(load_assets(ids), actor_of(request))
    return JsonResponse({id_: choice_of(asset).as_json() for id_, asset in found.items()})


@require_POST
@_answers_json
def describe(request: HttpRequest, object_id: object) -> JsonResponse:
    """Set the alternative text of an image in `language`, or mark it as decorative."""
    require(request, "media.edit")
    language, text = request.POST.get("language", ""), request.POST.get("alt_text", "")
    is_default = language in ("", settings.CMS_ENV.default_locale)
    asset = update_asset(
        asset_id=str(object_id),
        actor=actor_of(request),
        alt_text=text if is_default else None,
        alt_texts=None if is_default else {language: text},
        is_decorative=request.POST.get("is_decorative") == _YES,
    )
    return JsonResponse(choice_of(asset, language).as_json())
