"""A client of the management API, logged in as a role, with the real session and CSRF checks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from proofroom.core.middleware import STAFF_COOKIE
from tests import make


class ApiClient(Client):
    """Sends and reads JSON, with the CSRF token, like a browser's script."""

    def __init__(self, role: str | None = None) -> None:
        super().__init__(enforce_csrf_checks=True)
        if role is not None:
            self.force_login(make.user(role))
            request = HttpRequest()
            get_token(request)
            self.cookies[settings.CSRF_COOKIE_NAME] = request.META["CSRF_COOKIE"]
            self.cookies[STAFF_COOKIE] = "1"

    def _headers(self) -> dict[str, str]:
        cookie = self.cookies.get("csrftoken")
        return {"HTTP_X_CSRFTOKEN": cookie.value} if cookie else {}

    def send(self, method: str, path: str, body: Any = None, **extra: Any) -> Any:
        """Send a JSON body, or a string unchanged, and return the response."""
        data = body if isinstance(body, str) else json.dumps(body if body is not None else {})
        return self.generic(
            method, path, data, content_type="application/json", **{**self._headers(), **extra}
        )

    def send_form(self, method: str, path: str, fields: Mapping[str, Any], **extra: Any) -> Any:
        """Send a form and return the response. Bytes among the fields are files."""
        parts = {
            name: SimpleUploadedFile("picture.png", value) if isinstance(value, bytes) else value
            for name, value in fields.items()
        }
        return self.generic(
            method,
            path,
            encode_multipart(BOUNDARY, parts),
            content_type=MULTIPART_CONTENT,
            **{**self._headers(), **extra},
        )

    def write(
        self, method: str, path: str, body: Any = None, *, expect: int = 200, **extra: Any
    ) -> Any:
        response = self.send(method, path, body, **extra)
        assert response.status_code == expect, (response.status_code, response.content[:800])
        return response.json()

    def read(self, path: str, *, expect: int = 200, **extra: Any) -> Any:
        response = self.get(path, **extra)
        assert response.status_code == expect, (response.status_code, response.content[:800])
        return response.json()
