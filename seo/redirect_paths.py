"""Validation of the source paths and target addresses of redirects."""

from __future__ import annotations

import hashlib
from typing import Final
from urllib.parse import unquote

from django.conf import settings
from django.utils.translation import gettext as _

from content.store.url_pattern_rules import RESERVED
from proofroom.core.errors import invalid
from proofroom.core.site_urls import canonical_form
from proofroom.core.validation.host_names import has_valid_host
from proofroom.core.validation.limits import URL_MAX
from proofroom.definitions.richtext.links import is_external, safe_href

_SERVED: Final = RESERVED - {".well-known", "favicon.ico", "media"}
"""First path segments that never reach a redirect. Paths of deleted files may redirect."""


def clean_from(value: object) -> str:
    """Return the path as in requests: decoded and in canonical form. Raises `RuleViolation` on `fromPath`."""
    if not isinstance(value, str) or not value.startswith("/"):
        raise invalid("fromPath", _("fromPath must be a path on this site that starts with /."))
    if len(value) > URL_MAX:
        raise invalid(
            "fromPath",
            _("fromPath can have at most %(address_max)s characters.")
            % {"address_max": f"{URL_MAX:,}"},
        )
    if "?" in value or "#" in value:
        raise invalid("fromPath", _("fromPath must be a path without ? and #."))
    try:
        path = unquote(value, errors="strict")
    except UnicodeDecodeError:
        raise invalid(
            "fromPath", _("fromPath contains an escape sequence that is not UTF-8.")
        ) from None
    # Both forms: `/%2Fhost` is decoded to `//host`, the address of another site.
    if safe_href(value) is None or safe_href(path) is None:
        raise invalid("fromPath", _("fromPath is not a path on this site."))
    if not is_site(path):
        raise invalid(
            "fromPath",
            _("Addresses below /%(first_part)s are reserved.") % {"first_part": first_part(path)},
        )
    return canonical_form(path)


def clean_to(value: object) -> str:
    """Return a path of this site or an absolute http(s) URL. Raises `RuleViolation` on `toPath`."""
    address = safe_href(value)
    if address is not None and not address.startswith("/"):
        is_web = is_external(address) and has_valid_host(address)
        # URLs of this site are stored as paths.
        rest = address.removeprefix(settings.SITE_URL)
        if not is_web:
            address = None
        # `https://site.test.evil` begins with the URL of the site but is another host.
        elif rest != address and (not rest or rest[0] in "/?#"):
            address = rest if rest.startswith("/") else f"/{rest}"
    # Also checked in decoded form: a client that decodes once more must not reach another site.
    if address is None or safe_href(unquote(address)) is None:
        raise invalid(
            "toPath", _("toPath must be a path on this site or an absolute http(s) address.")
        )
    if len(address) > URL_MAX:
        raise invalid(
            "toPath",
            _("toPath can have at most %(address_max)s characters.")
            % {"address_max": f"{URL_MAX:,}"},
        )
    return address


def path_in(to_path: str) -> str:
    """Return the canonical path of an address of this site; empty for another site."""
    if not to_path.startswith("/"):
        return ""
    return canonical_form(unquote(to_path.split("#")[0].split("?")[0]))


def with_query(to_path: str, query: str) -> str:
    """Return an address of this site with the visitor's query, unless it has its own."""
    if not query or "?" in to_path or not to_path.startswith("/"):
        return to_path
    path, mark, fragment = to_path.partition("#")
    return f"{path}?{query}{mark}{fragment}"


def query_of(to_path: str) -> str:
    return to_path.split("#")[0].partition("?")[2]


def key_of(path: str) -> str:
    """Return the hash of a path used in the index; empty for an empty path."""
    return hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest() if path else ""


def first_part(path: str) -> str:
    return path.split("/", 2)[1] if path.startswith("/") else ""


def is_site(path: str) -> bool:
    """Return whether an address belongs to the site's pages, so that it can have a redirect."""
    return first_part(path) not in _SERVED
