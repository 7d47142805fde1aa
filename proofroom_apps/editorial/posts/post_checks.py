"""The checks of a post: what should be corrected before it is published, and the test of its accessibility."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.templatetags.static import static
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import get_language, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_POST

from content.document.document import PostDocument
from content.document.labels import label_of, module_names
from content.layers import Layers, LayerView
from content.models import Layer, Post, Status
from content.post_checks.accessibility import Accessibility
from content.post_checks.accessibility_reports import (
    document_digest,
    read_tested_page,
    store_report,
)
from content.post_checks.external_links import count_unchecked
from content.post_checks.registry import ResultLevel, levels_of
from content.post_checks.results import (
    CheckResult,
    check_post,
    find_blocking_failures,
    find_new_failures,
)
from content.store import post_repository
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.errors import CmsError
from proofroom_apps.editorial.posts.post_pages import layer_label, post_page, post_url, read
from proofroom_apps.editorial.posts.previews import PreviewSwitch
from proofroom_apps.website.layer_pages import preview_page

LIVE: Final = "source"
_NAMES: Final[Mapping[ResultLevel, Promise]] = {
    "block": gettext_lazy("Blocks publishing"),
    "warn": gettext_lazy("Warning"),
    "ok": gettext_lazy("Passed"),
}
_ORDER: Final[tuple[ResultLevel, ...]] = ("block", "warn", "ok")
_SCRIPT: Final = re.compile(r"<script\b[^>]*\ssrc=[^>]*></script>")
"""A script tag as templates write it. Escaped text cannot match."""


@dataclass(frozen=True, slots=True)
class ShownFailure:
    """A failure with the label and the address of its field, and an explanation of the rule, if it has these."""

    message: str
    label: str
    url: str
    more_url: str


@dataclass(frozen=True, slots=True)
class ShownCheck:
    """A check with its failures; `message` if it passed."""

    name: str
    label: str
    level: ResultLevel
    level_name: str
    advice: str
    message: str
    failures: tuple[ShownFailure, ...]

    @property
    def is_failed(self) -> bool:
        return self.level != "ok"


@service_errors_as_http
def checks(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Show the results of all checks of a layer."""
    require(request, "posts.view")
    post, layers = read(request, post_id)
    layer = _layer_of(request)
    document = _document_of(layers, layer)
    shown = _show(check_post(post, document), post, document, layer)
    may_test = may(request, "posts.edit") or may(request, "posts.translate")
    is_testable = may_test and levels_of(post.type)[Accessibility.name] != "off"
    context = {
        "layer": layer,
        "layers": _switches(post, layers, layer),
        "groups": [[one for one in shown if one.level == level] for level in _ORDER],
        "counts": [
            (level, str(_NAMES[level]), sum(one.level == level for one in shown))
            for level in _ORDER
        ],
        "checks": shown,
        "unchecked": count_unchecked(document),
        "is_draft": post.status != Status.PUBLISHED,
        "is_testable": is_testable,
        "digest": document_digest(post, document) if is_testable else "",
        "frame_url": post_url("checks_page", post, f"?{urlencode({'layer': layer})}"),
        "store_url": post_url("checks_accessibility", post, f"?{urlencode({'layer': layer})}"),
        "is_tested": any(one.name == Accessibility.name for one in shown),
    }
    title = _("Checks: %(title)s") % {"title": post.title}
    return post_page(
        request, "admin/posts/checks.html", post, layers, context, title=title, tab="checks"
    )


@service_errors_as_http
@xframe_options_sameorigin
def checks_page(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Return the page of the site with the content of the layer, and the script that tests it.

    The page's own scripts do not run: the policy allows only the two of the test, by a nonce.
    """
    require(request, "posts.view")
    post, layers = read(request, post_id)
    page = _SCRIPT.sub("", preview_page(post, _document_of(layers, _layer_of(request)), ""))
    nonce = secrets.token_urlsafe(16)
    is_german = (get_language() or "").startswith("de")
    scripts = format_html(
        '<script nonce="{0}" src="{1}"></script>\n<script nonce="{0}" src="{2}" type="module" data-locale="{3}" '
        'id="accessibility-test"></script>\n</body>',
        nonce,
        static("cms/vendor/axe/axe.min.js"),
        static("cms/checks/axe_frame.js"),
        static("cms/vendor/axe/de.json") if is_german else "",
    )
    head, closing, tail = page.rpartition("</body>")
    response = HttpResponse(f"{head}{scripts}{tail}" if closing else page)
    response["Cache-Control"] = "no-store"
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"
    response.csp_config = {  # type: ignore[attr-defined]  # read by the middleware of the policy
        **settings.SECURE_CSP,
        "script-src": [f"'nonce-{nonce}'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'self'"],
    }
    return response


@require_POST
@service_errors_as_http
def store_accessibility(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Store the result of a test that the browser ran."""
    require(request, "posts.edit", "posts.translate")
    post, layers = read(request, post_id)
    try:
        report = store_report(
            post=post,
            document=_document_of(layers, _layer_of(request)),
            tested=read_tested_page(request.body),
            actor=actor_of(request),
        )
    except CmsError as error:
        if error.status in (403, 404):
            raise
        body = {"error": error.message, "code": error.code, "details": error.details}
        return JsonResponse(body, status=error.status)
    return JsonResponse({"violations": len(report.violations)})


def blocked_publication(layers: Layers, view: LayerView) -> list[str]:
    """Return why checks would refuse to make the changes of a layer live; empty if they would not.

    No query if no check blocks posts of the type.
    """
    post = layers.post
    found = (
        find_new_failures([(post, layers.live, view.document)])
        if post.status == Status.PUBLISHED
        else find_blocking_failures(post, view.document)
    )
    return [failure.message for _check, failure in found]


def warn_about_checks(request: HttpRequest, post: Post) -> None:
    """Show a warning with the checks that a newly published post does not pass."""
    results = check_post(post, post_repository.load(post))
    failed = dict.fromkeys(str(one.check.label) for one in results if one.level != "ok")
    if failed:
        text = ngettext("%(count)s check warns:", "%(count)s checks warn:", len(failed))
        link = format_html('<a href="{}">{}</a>', post_url("checks", post), _("Open checks"))
        words = f"{text % {'count': len(failed)}} {', '.join(failed)}."
        messages.warning(request, format_html("{} {}", words, link))


def _layer_of(request: HttpRequest) -> str:
    layer = request.GET.get("layer", "")
    return layer if layer in Layer.values else LIVE


def _document_of(layers: Layers, layer: str) -> PostDocument:
    return layers.live if layer == LIVE else layers.view(Layer(layer)).document


def _switches(post: Post, layers: Layers, current: str) -> list[PreviewSwitch]:
    """Return the layers to choose from; none if the post has no staged changes."""
    found = [PreviewSwitch(post.live_layer_label, post_url("checks", post), current == LIVE)]
    for view in (layers.review, layers.ai_review):
        if view.exists or current == view.layer:
            name = view.layer.value
            url = post_url("checks", post, f"?layer={name}")
            is_current = current == name
            found.append(PreviewSwitch(layer_label(name), url, is_current, len(view.changes)))
    return found if len(found) > 1 else []


def _show(
    results: Iterable[CheckResult], post: Post, document: PostDocument, layer: str
) -> list[ShownCheck]:
    """Return the checks, with blocking ones first."""
    names = module_names(document)
    query = "?layer=review" if layer == Layer.REVIEW else ""
    # AI Review has no form: its values are edited in the review.
    editor = post_url("change", post, query) if layer != Layer.AI_REVIEW else ""
    shown: list[ShownCheck] = []
    for check, group in groupby(results, lambda one: one.check):
        rows = list(group)
        level = rows[0].level
        shown.append(
            ShownCheck(
                name=check.name,
                label=str(check.label),
                level=level,
                level_name=str(_NAMES[level]),
                advice=str(check.advice),
                message=rows[0].message,
                failures=tuple(
                    ShownFailure(
                        one.message,
                        label_of(one.path, document, names) if one.path else "",
                        f"{editor}#f-{one.path.replace('.', '-')}" if editor and one.path else "",
                        one.more_url,
                    )
                    for one in (rows if level != "ok" else ())
                ),
            )
        )
    return sorted(shown, key=lambda one: _ORDER.index(one.level))
