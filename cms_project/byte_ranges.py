"""Answer `Range` headers with parts of a file (RFC 9110, section 14), so that players can seek."""

from __future__ import annotations

import re
from typing import BinaryIO, Final, cast

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

_RANGE: Final = re.compile(r"bytes=(\d{0,19})-(\d{0,19})", re.ASCII)


class FilePart:
    """The next `length` bytes of an open file. The rest is not read."""

    def __init__(self, file: BinaryIO, length: int) -> None:
        self.file, self.left = file, length

    def read(self, size: int = -1) -> bytes:
        wanted = self.left if size < 0 else min(size, self.left)
        found = self.file.read(wanted) if wanted else b""
        self.left -= len(found)
        return found

    def close(self) -> None:
        self.file.close()


def apply_range(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Return the part of a file that a request asks for (206), 416 if the file has no such part, or the whole file.

    Several ranges, other units, and a range of another version (`If-Range`) get the whole file, as the RFC allows.
    """
    if not isinstance(response, FileResponse) or response.status_code != 200:
        return response
    response.headers["Accept-Ranges"] = "bytes"
    found = _RANGE.fullmatch(request.headers.get("Range", "").replace(" ", ""))
    condition = request.headers.get("If-Range")
    is_other = condition is not None and condition != response.headers.get("Last-Modified")
    if found is None or found.groups() == ("", "") or request.method != "GET" or is_other:
        return response
    size = int(response.headers["Content-Length"])
    first, last = found.groups()
    begin = int(first) if first else max(0, size - int(last))
    end = min(int(last), size - 1) if first and last else size - 1
    if first and last and int(last) < int(first):
        return response
    if begin > end:
        response.close()
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    file = cast("BinaryIO", response.file_to_stream)
    file.seek(begin)
    part = FileResponse(FilePart(file, end - begin + 1), status=206)
    for name, value in response.headers.items():
        part.headers[name] = value
    part.headers["Content-Length"] = str(end - begin + 1)
    part.headers["Content-Range"] = f"bytes {begin}-{end}/{size}"
    return part
