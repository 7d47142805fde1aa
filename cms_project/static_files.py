"""Static files with a hash of their content in the name, so that browsers can cache them for ever."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from whitenoise.storage import CompressedManifestStaticFilesStorage

# Django's patterns also match comments, and a script whose comment names itself would have no stable hash.
_IMPORTS: Final = (
    (
        r"""(?m)^(?P<matched>import(?P<names>[\s{*][^;"']*?)from\s*["'](?P<url>\.[^"']+)["'])""",
        'import%(names)sfrom "%(url)s"',
    ),
    (
        r"""(?m)^(?P<matched>export(?P<names>[\s{*][^;"']*?)from\s*["'](?P<url>\.[^"']+)["'])""",
        'export%(names)sfrom "%(url)s"',
    ),
    (r"""(?m)^(?P<matched>import\s*["'](?P<url>\.[^"']+)["'])""", 'import "%(url)s"'),
    (r"""(?P<matched>\bimport\(["'](?P<url>\.[^"']+)["']\))""", 'import("%(url)s")'),
)
_MAX_URLS: Final = 1000


class HashedStaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # untyped
    """A storage for hashed and compressed copies, with a manifest of their names.

    If `collectstatic` did not run (the demo), files keep their names.
    """

    # Imports between scripts use hashed names too. A module loaded under two names would run twice.
    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("*.js", _IMPORTS))
    max_post_process_passes = 20  # one for each script in the longest chain of imports
    keep_intermediate_files = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._urls: dict[tuple[object, ...], str] = {}

    def url(self, name: str, force: bool = False) -> str:
        """Return the address of a file. Cached, because a page needs a dozen and Django builds each in ten calls."""
        key = (name, force, self.base_url, settings.DEBUG)
        found = self._urls.get(key)
        if found is None:
            if len(self._urls) >= _MAX_URLS:
                self._urls.clear()
            found = self._urls[key] = super().url(name, force)
        return found

    def save_manifest(self) -> None:
        super().save_manifest()
        self._urls.clear()

    def stored_name(self, name: str) -> str:
        try:
            stored: str = super().stored_name(name) if self.hashed_files else name
        except ValueError:
            # The file is newer than the manifest. The page works without it, and the doctor reports it.
            return name
        return stored
