"""`/preview/changes/<token>`: the changes behind a reviewer link, for a person without an account.

The page uses no session and no cookie, so there is deliberately no CSRF token: a forged request would have to know
the token in the address. Browsers also say if a form was sent by another site, and such a request is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.loader import render_to_string
from django.utils.translation import get_supported_language_variant, override
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from content.comparison.references import References, references_of
from content.models import Post, Status
from content.presenters.cards import CardGroup, ChangeCard, cards_between
from content.store.scopes import hidden_title
from proofroom.core.errors import CmsError, Gone, NotFound, RuleViolation
from proofroom.core.middleware import CSP, Policy, csp_override
from proofroom_apps.reviewers.advice import Opinion, give_advice
from proofroom_apps.reviewers.links import OpenedReview, open_review
from proofroom_apps.reviewers.models import COMMENT_MAX
from proofroom_apps.website.http_cache import rate_limit_response

_POLICY: Final[Policy] = {
    **settings.SECURE_CSP,
    "script-src": [CSP.NONE],
    "frame-src": [CSP.NONE],
    "form-action": [CSP.SELF],
}
"""Content security policy of the page: no scripts, forms only to this site."""
_VERDICT: Final = "verdict."
_COMMENT: Final = "comment."
_SENT: Final = "sent"


@dataclass(frozen=True, slots=True)
class GuestCard:
    """A change with what the reviewer says to it."""

    card: ChangeCard
    opinion: Opinion


@dataclass(frozen=True, slots=True)
class GuestGroup:
    """The changes of a module, or of the post's own fields."""

    name: str
    cards: list[GuestCard]


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
@csp_override(_POLICY)
def guest_review(request: HttpRequest, token: str) -> HttpResponse:
    """Show the changes, or store what the reviewer says. 410 when the link has ended, 404 for an unknown one."""
    refusal = rate_limit_response(request)
    if refusal is None:
        refusal = _refuse_other_sites(request)
    response = refusal or _answer(request, token)
    response["Cache-Control"] = "no-store"
    response["X-Robots-Tag"] = "noindex, nofollow"
    # The address contains the token.
    response["Referrer-Policy"] = "no-referrer"
    return response


def _refuse_other_sites(request: HttpRequest) -> HttpResponse | None:
    is_cross = request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none")
    if request.method != "POST" or not is_cross:
        return None
    return HttpResponse("This form belongs to another site.", status=403)


def _answer(request: HttpRequest, token: str) -> HttpResponse:
    try:
        opened = open_review(token)
    except (NotFound, Gone) as error:
        return _over(request, error)
    with override(_language_of(opened.post)):
        if request.method != "POST":
            stored = {
                one.path: Opinion(one.verdict, one.comment) for one in opened.link.advice.all()
            }
            return _show(opened, stored, is_sent=_SENT in request.GET and bool(stored))
        opinions = _read_opinions(request)
        try:
            give_advice(token, opinions)
        except (NotFound, Gone) as error:
            return _over(request, error)
        except RuleViolation as error:
            return _show(opened, opinions, problem=error.message)
    # So that reloading the page sends nothing again.
    return HttpResponseRedirect(f"{request.path}?{_SENT}=1", status=303)


def _language_of(post: Post) -> str:
    """Return the language of the page: that of the post, if the product's texts have it."""
    try:
        return get_supported_language_variant(post.locale)
    except LookupError:
        return str(settings.LANGUAGE_CODE)


def _over(request: HttpRequest, error: CmsError) -> HttpResponse:
    """Return the page of a link that does not work, which names neither post nor reason."""
    if "application/json" in request.headers.get("Accept", ""):
        body = {"error": error.message, "code": error.code, "details": {}}
        return JsonResponse(body, status=error.status)
    context = {"is_gone": isinstance(error, Gone)}
    return HttpResponse(render_to_string("reviewers/over.html", context), status=error.status)


def _read_opinions(request: HttpRequest) -> dict[str, Opinion]:
    """Return what the form says by path. NUL, which PostgreSQL refuses, is left out."""
    found: dict[str, Opinion] = {}
    for key, value in request.POST.items():
        text = value.replace("\x00", "").strip() if isinstance(value, str) else ""
        if key.startswith(_VERDICT):
            path = key.removeprefix(_VERDICT)
            found[path] = replace(found.get(path, Opinion()), verdict=text)
        elif key.startswith(_COMMENT):
            path = key.removeprefix(_COMMENT)
            comment = text.replace("\r\n", "\n")
            found[path] = replace(found.get(path, Opinion()), comment=comment)
    return found


def _show(
    opened: OpenedReview,
    opinions: dict[str, Opinion],
    *,
    problem: str = "",
    is_sent: bool = False,
) -> HttpResponse:
    link, view = opened.link, opened.view
    # As the maker of the link would see them, without what is not published.
    maker = link.created_by
    assert maker is not None  # noqa: S101  # `open_review` refuses links without one
    references = references_of(opened.changes, view.document, view.below, who=maker)
    groups = cards_between(
        view.below,
        view.document,
        opened.changes,
        _published_only(references),
        is_live=link.post.status == Status.PUBLISHED,
    )
    context = {
        "link": link,
        "language": _language_of(link.post),
        "groups": [_guest_group(group, opinions) for group in groups],
        "count": len(opened.changes),
        "problem": problem,
        "is_sent": is_sent,
        "comment_max": COMMENT_MAX,
    }
    html = render_to_string("reviewers/guest.html", context)
    return HttpResponse(html, status=422 if problem else 200)


def _published_only(references: References) -> References:
    """Return the references without the titles of posts that are not public."""
    public = Post.objects.filter(pk__in=references.posts, status=Status.PUBLISHED).alive()
    shown = {str(pk) for pk in public.values_list("pk", flat=True)} if references.posts else set()
    titles = {
        id_: title if id_ in shown else hidden_title() for id_, title in references.posts.items()
    }
    return replace(references, posts=titles)


def _guest_group(group: CardGroup, opinions: dict[str, Opinion]) -> GuestGroup:
    cards = [GuestCard(card, opinions.get(card.path, Opinion())) for card in group.cards]
    return GuestGroup(group.name, cards)
