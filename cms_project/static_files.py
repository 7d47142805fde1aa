"""Static files under names that carry a hash of their content, so that they may be cached for ever."""

from __future__ import annotations

from typing import Final

from whitenoise.storage import CompressedManifestStaticFilesStorage

# Django's own patterns also take the examples in comments, and a script whose comment names itself has no hash.
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


class HashedStaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # untyped
    """`collectstatic` writes hashed and compressed copies, and a manifest of their names.

    Scripts import each other under the hashed names too: a module that a page loads as well would else run twice.
    Where nothing was collected (the demo), each file has its own name.
    """

    patterns = (*CompressedManifestStaticFilesStorage.patterns, ("*.js", _IMPORTS))
    max_post_process_passes = 20  # one for each script in the longest chain of imports
    keep_intermediate_files = False

    def stored_name(self, name: str) -> str:
        try:
            stored: str = super().stored_name(name) if self.hashed_files else name
        except ValueError:
            # A file that is newer than the manifest: the page lacks it, which the doctor says, instead of failing.
            return name
        return stored
