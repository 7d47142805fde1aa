"""Reviewers without an account on the review screen: their links, and a page to create and revoke them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from content.document.labels import label_of, module_names
from content.layers import LayerView
from content.models import Layer, Post
from content.store.digest import digest_of
from proofroom.core.admin.form_pages import save_form
from proofroom.core.admin.permissions import (
    actor_of,
    may,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.errors import CmsError
from proofroom.core.site_urls import reviewer_url
from proofroom_apps.editorial.posts.advice import describe_advice
from proofroom_apps.editorial.posts.post_pages import (
    post_page,
    post_url,
    read,
    review_url,
    title_in,
)
from proofroom_apps.reviewers.links import (
    LONGEST_HOURS,
    USUAL_HOURS,
    LinkState,
    create_reviewer_link,
    links_of,
    revoke_reviewer_link,
    state_of,
)
from proofroom_apps.reviewers.models import NAME_MAX, ReviewerLink, Verdict

_MAX_ROWS: Final = 10
"""Maximum number of links on the review screen: each is compared with the changes."""
_STATE_LABELS: Final = {
    LinkState.OPEN: gettext_lazy("open"),
    LinkState.REVOKED: gettext_lazy("revoked"),
    LinkState.EXPIRED: gettext_lazy("expired"),
    LinkState.CHANGED: gettext_lazy("ended: the text has changed"),
    LinkState.CLOSED: gettext_lazy("ended: its maker may no longer invite reviewers"),
}


def _lifetimes() -> list[tuple[int, str]]:
    days = [(1, 24), (3, 72), (7, 168), (14, 336), (LONGEST_HOURS // 24, LONGEST_HOURS)]
    return [(hours, ngettext("%(n)s day", "%(n)s days", n) % {"n": n}) for n, hours in days]


class ReviewerForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name of the reviewer"), max_length=NAME_MAX)
    expiresInHours = forms.TypedChoiceField(
        label=gettext_lazy("Expires after"), coerce=int, initial=USUAL_HOURS, choices=_lifetimes
    )


@dataclass(frozen=True, slots=True)
class ReviewerLinkRow:
    """A link in the list, with its state and answer in words."""

    link: ReviewerLink
    state: str
    is_open: bool
    can_revoke: bool
    answer: str


@dataclass(frozen=True, slots=True)
class ReviewersPanel:
    """The panel of the review screen: a form for a link to all changes, and the links of the layer."""

    links: Sequence[ReviewerLinkRow]
    form: ReviewerForm
    url: str
    digest: str


@dataclass(frozen=True, slots=True)
class ChangeChoice:
    """A change that a link may show."""

    path: str
    label: str
    is_chosen: bool


def reviewers_panel(
    request: HttpRequest, post: Post, view: LayerView, digest: str, links: Iterable[ReviewerLink]
) -> ReviewersPanel | None:
    """Return the panel of a layer; None if the user may not invite reviewers. No query."""
    if not may(request, "reviewers.invite", post):
        return None
    newest = islice((link for link in links if link.layer == view.layer), _MAX_ROWS)
    rows = [_row(link, view) for link in newest]
    return ReviewersPanel(rows, ReviewerForm(auto_id="reviewer_%s"), _url(post, view.layer), digest)


@service_errors_as_http
def reviewers(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET lists the links of a post, POST creates one (its address is shown only once) or revokes one."""
    require(request, "reviewers.invite")
    post, layers = read(request, post_id)
    layer = request.GET.get("layer", "")
    view = layers.view(Layer(layer) if layer in Layer.values else Layer.REVIEW)
    do = request.POST.get("do", "")
    if do == "revoke":
        with service_errors_as_messages(request):
            chosen = request.POST.get("value", "")
            revoke_reviewer_link(post_id=post_id, link_id=chosen, actor=actor_of(request))
            messages.success(request, _("Link revoked. It no longer works."))
        return HttpResponseRedirect(_url(post, view.layer))
    form = ReviewerForm(request.POST if do == "create" else None)
    made: list[str] = []
    # The form on the review screen has no choice of changes; without one a link shows all of them. Where there is
    # a choice, none chosen must not mean all.
    paths = request.POST.getlist("paths")

    def create() -> None:
        try:
            _link, token = create_reviewer_link(
                post_id=post.pk,
                actor=actor_of(request),
                name=form.cleaned_data["name"],
                digest=request.POST.get("seen", ""),
                paths=paths if "chosen" in request.POST else paths or None,
                hours=form.cleaned_data["expiresInHours"],
            )
        except CmsError as error:
            if error.code != "stale_review":
                raise
            form.add_error(None, error.message)
            return
        made.append(reviewer_url(token))

    if form.is_bound:
        save_form(form, create)
    status = 422 if form.errors else 200
    if made:
        form, paths = ReviewerForm(), []
    context = {
        "rows": [_row(link, layers.view(Layer(link.layer))) for link in links_of(post)],
        "form": form,
        "made": made,
        "digest": digest_of(view.changes) if view.exists else "",
        "choices": list(_choices(view, set(paths))),
        "url": _url(post, view.layer),
        "back": review_url(post, view.layer),
    }
    return post_page(
        request,
        "admin/structure/reviewer_links.html",
        post,
        layers,
        context,
        title=_("Reviewers: %(title)s") % {"title": title_in(post, layers)},
        tab=view.layer,
        status=status,
    )


def _choices(view: LayerView, chosen: set[str]) -> Iterable[ChangeChoice]:
    names = module_names(view.document, view.below)
    for change in view.changes:
        label = label_of(change.path, view.document, names)
        yield ChangeChoice(change.path, label, not chosen or change.path in chosen)


def _url(post: Post, layer: str) -> str:
    return post_url("reviewers", post, f"?layer={layer}")


def _row(link: ReviewerLink, view: LayerView) -> ReviewerLinkRow:
    state = state_of(link, view)
    return ReviewerLinkRow(
        link,
        str(_STATE_LABELS[state]),
        state == LinkState.OPEN,
        state in (LinkState.OPEN, LinkState.CHANGED),
        _answer_of(link),
    )


def _answer_of(link: ReviewerLink) -> str:
    advice = list(link.advice.all())
    if not advice:
        return _("no answer yet")
    return describe_advice(
        sum(one.verdict == Verdict.YES for one in advice),
        sum(one.verdict == Verdict.NO for one in advice),
        sum(bool(one.comment) for one in advice),
    )
