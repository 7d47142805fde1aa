"""The file picker: the content of a dialog, and a page for browsers without scripts."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from media.admin.file_choice import TYPES, choice_of
from media.admin.upload_forms import IMAGE_KINDS, KINDS, RECORDING_KINDS
from media.admin.uploads import upload_limits
from media.models import Asset
from media.queries import category_counts, list_assets
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.i18n.languages import language_name

PER_PAGE: Final = 24
_MAX_PAGES: Final = 10_000
_MAX_WORD_LENGTH: Final = 200
_ACCEPTS: Final = {"image": IMAGE_KINDS, "recording": RECORDING_KINDS}
_ORDERS: Final = ("-createdAt", "filename", "-size")


@service_errors_as_http
@require_safe
def pick_page(request: HttpRequest) -> HttpResponse:
    """Show files to pick, by `kind`, `q`, `category`, `order`, `page`. With the header `X-Fragment` only the
    page's content."""
    require(request, "media.view")
    wanted = {name: _read_word(request, name) for name in ("q", "category", "order", "language")}
    kind = _read_word(request, "kind")
    kind = kind if kind in TYPES else ""
    number, given = 1, request.GET.get("page", "")
    if given.isascii() and given.isdigit() and len(given) < 6:
        number = min(max(int(given), 1), _MAX_PAGES)
    rows = list_assets(
        actor=actor_of(request),
        category=wanted["category"],
        search=wanted["q"],
        mime=TYPES.get(kind, ""),
        ordering=wanted["order"] if wanted["order"] in _ORDERS else "",
    )
    begin = (number - 1) * PER_PAGE
    # One row more than shown tells whether there is a next page, without counting.
    found = list(rows[begin : begin + PER_PAGE + 1])
    query = request.GET.copy()
    query["page"] = str(number + 1)
    context = {
        **wanted,
        **upload_limits(),
        "kind": kind,
        "orders": [
            ("-createdAt", _("Newest first")),
            ("filename", _("By name")),
            ("-size", _("Largest first")),
        ],
        "picks": [choice_of(asset, wanted["language"]) for asset in found[:PER_PAGE]],
        "next": query.urlencode() if len(found) > PER_PAGE else "",
        "begin": begin,
        "categories": category_counts(actor_of(request))[0],
        "is_narrowed": bool(wanted["q"] or wanted["category"]),
        "is_fragment": "X-Fragment" in request.headers,
        "language_name": language_name(wanted["language"] or settings.CMS_ENV.default_locale),
        "accept": _ACCEPTS.get(kind, KINDS),
        "may_upload": may(request, "media.upload"),
        "may_edit": may(request, "media.edit"),
    }
    name = "pick_body" if context["is_fragment"] else "pick"
    return form_page(
        request, f"admin/media/{name}.html", Asset, context, title=_("Choose from media library")
    )


def _read_word(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").replace("\x00", "")[:_MAX_WORD_LENGTH].strip()
