"""`POST /api/media/upload` and `…/replace`: files sent by people."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import orjson
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from media.api.assets import PATHS
from media.presenters import Media, present_asset
from media.services.files import replace_file, store_image, too_large_error
from media.services.update import find_asset
from proofroom.core.api.answer import described
from proofroom.core.api.body import body_length
from proofroom.core.api.permissions import Declared
from proofroom.core.api.schema import LOCATION
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import invalid

_MAX_BYTES_BESIDE: Final = 256 * 1024
"""Maximum size in bytes of a request without the file."""
_ALT: Final = ("alt_text", "altText")
_CATEGORIES: Final = ("categories", "categories[]")
_MAX_TEXT_LENGTH: Final = 20_000
_FILE: Final = {
    "type": "string",
    "format": "binary",
    "description": "JPEG, PNG, WebP, GIF, AVIF or PDF by its content, up to `MEDIA_MAX_BYTES` (20 MB), or MP4, WebM, "
    "MP3, Ogg or WAV, up to `MEDIA_MAX_RECORDING_BYTES` (100 MB).",
}
UPLOAD: Final[dict[str, Any]] = {
    "multipart/form-data": {
        "type": "object",
        "properties": {
            "file": _FILE,
            "alt_text": {"type": "string", "maxLength": 500},
            "categories": {
                "type": "array",
                "items": {"type": "string", "maxLength": 60},
                "description": "The field as often as there are categories, a JSON list, or one with commas.",
            },
        },
        "required": ["file"],
        "additionalProperties": False,
    }
}
REPLACEMENT: Final[dict[str, Any]] = {
    "multipart/form-data": {
        "type": "object",
        "properties": {"file": _FILE},
        "required": ["file"],
        "additionalProperties": False,
    }
}


class FileViewSet(ApiViewSet):
    """Uploads. Too large a body is refused before it is read."""

    parser_classes = (MultiPartParser,)
    permissions: ClassVar[dict[str, Declared]] = {
        "upload": "media.upload",
        "replace": "media.edit",
    }
    path_schemas = PATHS

    @extend_schema(request=UPLOAD, responses={201: described(Media)}, parameters=[LOCATION])
    def upload(self, request: Request) -> Response:
        """Store a file. Workers generate its variants: until then `status` is `processing`."""
        # `store_image` also accepts files of agents, but uploads are made by people.
        self.actor.require_person("upload files")
        file = _read_file(request, also=(*_ALT, *_CATEGORIES))
        texts = _read_texts(request, _ALT)
        if len(texts) > 1:
            raise invalid("alt_text", "Send alt_text only once.")
        # Accepts several fields, or one with a JSON list or with words separated by commas.
        found: list[str] = []
        for text in _read_texts(request, _CATEGORIES):
            if not text.lstrip().startswith("["):
                found += text.split(",")
                continue
            try:
                words = orjson.loads(text)
            except orjson.JSONDecodeError:
                words = None
            if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
                raise invalid("categories", "categories must be a list of texts.")
            found += words
        asset = store_image(
            file=file,
            filename=str(file.name or ""),
            alt_text=texts[0] if texts else "",
            categories=found,
            actor=self.actor,
        )
        return Response(
            present_asset(asset), status=201, headers={"Location": f"/api/media/{asset.pk}"}
        )

    @extend_schema(request=REPLACEMENT, responses={200: described(Media)})
    def replace(self, request: Request, media_id: str) -> Response:
        """Replace the file: every post that uses it shows the new one."""
        self.actor.require_person("replace files")
        asset = find_asset(media_id, self.actor)
        file = _read_file(request)
        asset = replace_file(
            asset_id=asset.pk, file=file, filename=file.name or "", actor=self.actor
        )
        return Response(present_asset(asset))


def _read_file(request: Request, also: tuple[str, ...] = ()) -> UploadedFile[bytes]:
    """Return the single file of a body that may otherwise only have the fields in `also`."""
    env = settings.CMS_ENV
    most = max(env.media_max_bytes, env.media_max_recording_bytes)
    if body_length(request) > most + _MAX_BYTES_BESIDE:
        raise too_large_error(most)
    data = request.data
    for name in (*data, *request.FILES):
        if name != "file" and (name not in also or name in request.FILES):
            known = ", ".join(("file", *also))
            raise invalid(name[:80], f"There is no field of that name here; known: {known}.")
    files = request.FILES.getlist("file")
    if len(files) != 1:
        message = "Send one file at a time." if files else "file must be a file."
        raise invalid("file", message)
    found: UploadedFile[bytes] = files[0]
    return found


def _read_texts(request: Request, names: tuple[str, ...]) -> list[str]:
    data = request.data
    found = [
        text
        for name in names
        for text in (data.getlist(name) if isinstance(data, QueryDict) else [])
    ]
    for text in found:
        if len(text) > _MAX_TEXT_LENGTH:
            raise invalid(names[0], "This is too long.")
    return found
