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


def read_files(sent: MultiValueDict[str, UploadedFile]) -> dict[str, UploadedFile]:
    """Return the files by field name. Raises `RuleViolation` for several files in one field."""
    for name, files in sent.lists():
        if len(files) > 1:
            raise invalid(name[:80], _("Send one file in this field."))
    return dict(sent.items())


def count_files(request: HttpRequest | Request, files: Mapping[str, UploadedFile]) -> int:
    """Count the files of an accepted submission. Returns the seconds to wait if the address sent too many."""
    address = client_address(request)
    if not files or is_allow_listed(address):
        return 0
    count = HitCount("forms-files", address, len(files), rate=FILES_PER_ADDRESS)
    return count.wait if count.is_over else 0
