"""Files in a request for a form, and their limit per address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from rest_framework.request import Request

from proofroom.core.caching.rate_limits import HitCount, client_address, is_allow_listed
from proofroom.core.errors import invalid

FILES_PER_ADDRESS: Final = "30/hour"
Files = MultiValueDict[str, "UploadedFile[bytes]"]


def read_files(sent: Files) -> dict[str, UploadedFile[bytes]]:
    """Return the files by field name. Raises `RuleViolation` for several files in one field."""
    for name, files in sent.lists():
        if len(files) > 1:
            raise invalid(name[:80], _("Send one file in this field."))
    return last_files(sent)


def last_files(sent: Files) -> dict[str, UploadedFile[bytes]]:
    """Return the last file of each field: a field of a page takes one."""
    # An empty list of files has no last one.
    return {name: file for name, file in sent.items() if isinstance(file, UploadedFile)}


def count_files(request: HttpRequest | Request, files: Mapping[str, UploadedFile[bytes]]) -> int:
    """Count the files of an accepted submission. Returns the seconds to wait if the address sent too many."""
    address = client_address(request)
    if not files or is_allow_listed(address):
        return 0
    count = HitCount("forms-files", address, len(files), rate=FILES_PER_ADDRESS)
    return count.wait if count.is_over else 0
