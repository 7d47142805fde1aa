"""`/forms/:slug`: submission of the site's forms without scripts. GET shows the form on its own page.

An accepted form redirects back to its page (303); a refused one shows the page again with the errors. There is
deliberately no CSRF token: as in the API, no session and no cookie is used, so a forged request can do nothing
that its sender couldn't do directly. A token would also make each page different, so that no cache could store
it. Protection comes from the honeypot and the rate limit by address.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils.encoding import iri_to_uri
from django.utils.http import urlencode
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods

from forms.fields import HONEYPOT, MAX_BODY_BYTES
from forms.queries import file_fields, submission_limit
from forms.rendering import form_address, goal_of, load_forms
from forms.services.submissions import submit_form
from forms.uploads import count_files, last_files
from proofroom.core.actor import Actor, Visitor
from proofroom.core.api.body import body_length
from proofroom.core.caching.rate_limits import count_caller
from proofroom.core.errors import NotFound, RuleViolation
from proofroom.core.json import Json
from proofroom.core.site_urls import PageLocation, locale_of
from proofroom.core.validation.limits import URL_MAX
from proofroom.definitions import modules
from proofroom.definitions.props import values_in
from proofroom.definitions.richtext.links import safe_href
from proofroom_apps.website import goals, queries
from proofroom_apps.website.form_submission import SubmissionResult
from proofroom_apps.website.http_cache import rate_limit_response
from proofroom_apps.website.page_frame import (
    build_page_context,
    load_surroundings,
    use_template_language,
)
from proofroom_apps.website.pages import missing_page, post_page
from proofroom_apps.website.rendering import full_props
from proofroom_apps.website.variation_pages import page_with

ALONE: Final = "form"
"""Used instead of a module id if the form is on its own page."""
_PAGE: Final = "_page"
_AT: Final = "_at"
_AGREED: Final = "_agreed"
_UNCOUNTED: Final = "_uncounted"
_TYPES: Final = ("application/x-www-form-urlencoded", "multipart/form-data")


@dataclass(frozen=True, slots=True)
class Sent:
    """A submission. `found` is the published page with the form in its module `at`, or None.

    While the page has running variations, `found` is the one the visitor saw. `has_agreed`: the visitor
    consented to be counted; `is_for_looking`: the page was a preview.
    """

    found: queries.FoundPost | None
    at: str
    locale: str
    values: Mapping[str, Json]
    has_agreed: bool = False
    is_for_looking: bool = False
    files: Mapping[str, UploadedFile[bytes]] = field(default_factory=dict)

    @property
    def is_counted(self) -> bool:
        """True if the submission may be counted in analytics."""
        env = settings.CMS_ENV
        if self.is_for_looking or not env.analytics_tracking:
            return False
        return self.has_agreed or not env.analytics_consent

    @property
    def shown(self) -> dict[str, tuple[str, ...]]:
        """Values to show in the form again. A checked box sends some text."""
        return {
            name: tuple(
                # HTML can't contain NUL or lone surrogates.
                one.replace("\x00", "").encode("utf-8", "replace").decode()
                for one in (value if isinstance(value, list) else [value])
                if isinstance(one, str)
            )
            for name, value in self.values.items()
            if name != HONEYPOT
        }


def read_sent(request: HttpRequest, slug: str, locale: str) -> Sent | HttpResponse:
    """Return the parsed request, or an error response."""
    is_multipart = request.content_type == "multipart/form-data"
    length = body_length(request)
    if length > MAX_BODY_BYTES and not (is_multipart and length <= submission_limit(slug, locale)):
        return HttpResponse("That is too much for a form.", status=413, content_type="text/plain")
    if request.content_type not in _TYPES:
        return HttpResponse("Send a form.", status=415, content_type="text/plain")
    values: dict[str, Json] = {
        name: sent[0] if len(sent) == 1 else list(sent) for name, sent in request.POST.lists()
    }
    page, at = values.pop(_PAGE, None), values.pop(_AT, None)
    marks = (values.pop(_AGREED, None) == "1", values.pop(_UNCOUNTED, None) == "1")
    files = last_files(request.FILES)
    found = _find_page(slug, page, at)
    if found is None or not isinstance(at, str):
        return Sent(None, ALONE, locale, values, *marks, files)
    return Sent(found, at, found.post.locale, values, *marks, files)


def _find_page(slug: str, path: Json, at: Json) -> queries.FoundPost | None:
    """Return the published page at a path, or its shown variation, if its module `at` contains the form.

    The response is built from this post only, never from the submitted path.
    """
    if not isinstance(path, str) or not isinstance(at, str) or not path.startswith("/"):
        return None
    # `//host` would be the address of another site.
    if len(path) > URL_MAX or path.startswith("//"):
        return None
    found = page_with(path, locale_of(path), at)
    if found is None:
        return None
    for item in found.modules:
        definition = modules.get(item.type)
        if item.post_module_id == at and definition is not None:
            named = values_in(definition.Props, full_props(definition, item))
            is_there = any((kind, value) == ("form-reference", slug) for _, kind, value in named)
            return found if is_there else None
    return None


class TooManySubmissions(Exception):
    """The limit of submissions per address is exceeded. `wait` is in seconds."""

    def __init__(self, wait: int) -> None:
        super().__init__(wait)
        self.wait = wait


@require_http_methods(["GET", "HEAD", "POST"])
def form_page(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Show the form on its own page, or process a submission."""
    given = request.GET.get("locale", "")
    default: str = settings.CMS_ENV.default_locale
    locale = given if given in settings.CMS_ENV.locales else default
    if request.method != "POST":
        result = SubmissionResult(ALONE) if request.GET.get("sent") == ALONE else None
        return _form_alone(slug, locale, result)
    refusal = rate_limit_response(request)
    if refusal is not None:
        return _uncached(refusal)
    sent = read_sent(request, slug, locale)
    if isinstance(sent, HttpResponse):
        return _uncached(sent)
    with use_template_language(sent.locale):
        return _uncached(_answer_submission(request, slug, sent))


def _answer_submission(request: HttpRequest, slug: str, sent: Sent) -> HttpResponse:
    def admit() -> None:
        # Called only for valid submissions. Addresses without limits are not counted.
        count = count_caller("forms", request)
        if count is not None and count.is_over:
            raise TooManySubmissions(count.wait)
        if wait := count_files(request, sent.files):
            raise TooManySubmissions(wait)

    known = file_fields(slug, sent.locale) if sent.files else {}
    files = {name: file for name, file in sent.files.items() if name in known}
    try:
        receipt = submit_form(
            slug=slug,
            locale=sent.locale,
            # A list is refused by the other fields.
            values={**sent.values, **{name: [] for name in sent.files.keys() - known.keys()}},
            actor=Actor(user=Visitor(), via="site"),
            admit=admit,
            files=files,
        )
    except NotFound:
        return HttpResponse(missing_page(sent.locale), status=404)
    except RuleViolation as refusal:
        return _show_again(slug, sent, refusal.details, 422)
    except TooManySubmissions as refusal:
        # Rounded up.
        minutes = -(-refusal.wait // 60)
        response = _show_again(
            slug,
            sent,
            {},
            429,
            notice=(
                ngettext(
                    (
                        "Too many messages from your connection. Please try again in "
                        "%(number)d minute."
                    ),
                    (
                        "Too many messages from your connection. Please try again in "
                        "%(number)d minutes."
                    ),
                    minutes,
                )
                % {"number": minutes}
            ),
        )
        response["Retry-After"] = str(refusal.wait)
        return response
    if receipt.is_kept and sent.is_counted:
        post_id = sent.found.post.pk if sent.found is not None else None
        goals.report_goal(request, post_id=post_id, goal=goal_of(slug))
    # Redirect to the form's own target, or back to the page, which then shows the confirmation.
    if _is_of_site(receipt.redirect_url):
        return _see_other(receipt.redirect_url)
    if sent.found is None or receipt.redirect_url:
        # Browsers apply the policy `form-action 'self'` to redirects after a submission too. For another
        # site, the confirmation page forwards the visitor.
        address = form_address(slug, sent.locale)
        query = urlencode({"sent": ALONE})
        return _see_other(f"{address}{'&' if '?' in address else '?'}{query}#form-{ALONE}")
    return _see_other(f"{sent.found.post.path}?{urlencode({'sent': sent.at})}#form-{sent.at}")


def _show_again(
    slug: str, sent: Sent, errors: dict[str, list[str]], status: int, notice: str = ""
) -> HttpResponse:
    form = load_forms([slug], sent.locale).get(slug)
    names = {field.name for field in form.fields} if form else set()
    if errors and not notice and not names >= errors.keys():
        # Unknown field names mean that the form was edited after the page was loaded.
        notice = gettext("The form has changed in the meantime. Please check it and send it again.")
    submission = SubmissionResult(at=sent.at, values=sent.shown, errors=errors, notice=notice)
    if sent.found is None:
        response = _form_alone(slug, sent.locale, submission)
        response.status_code = status
        return response
    page = post_page(sent.found, submission, is_counted=not sent.is_for_looking)
    return HttpResponse(page, status=status)


def _form_alone(slug: str, locale: str, submission: SubmissionResult | None) -> HttpResponse:
    """Return the form on its own page. Three queries."""
    form = load_forms([slug], locale).get(slug)
    if form is None:
        return HttpResponse(missing_page(locale), status=404)
    is_taken = submission is not None and submission.is_taken
    onward = form.redirect_url if is_taken and not _is_of_site(form.redirect_url) else ""
    with use_template_language(locale):
        context = build_page_context(
            load_surroundings(PageLocation(f"/forms/{slug}", locale)), []
        ) | {
            "form": form,
            "page_title": form.title,
            "submission": submission,
            "onward": onward,
            "stylesheets": ["cms/modules/form.css"],
        }
        response = HttpResponse(render_to_string("site/form_page.html", context))
    # Unlike a redirect, the Refresh header isn't subject to `form-action`.
    if onward and (target := safe_href(onward)):
        response["Refresh"] = f"0; url={iri_to_uri(target)}"
    return _uncached(response)


def _is_of_site(address: str) -> bool:
    return address.startswith("/") and safe_href(address) == address


def _see_other(address: str) -> HttpResponse:
    response = HttpResponse(status=303)
    response["Location"] = iri_to_uri(address)
    return response


def _uncached(response: HttpResponse) -> HttpResponse:
    """Disable caching: the response is for one visitor only."""
    response["Cache-Control"] = "no-store"
    return response
