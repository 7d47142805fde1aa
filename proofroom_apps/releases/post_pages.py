"""Releases on the pages of posts: accepted changes of a review, and drafts of the list, are added to one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from content.models import Layer, Post
from content.store.scopes import visible_to
from proofroom.core.admin.form_pages import form_page
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.errors import CmsError, invalid
from proofroom_apps.editorial.posts.extensions import (
    ListAction,
    PostPagesExtension,
    post_pages_extensions,
)
from proofroom_apps.editorial.posts.post_pages import review_url
from proofroom_apps.releases.models import EDITABLE, Release
from proofroom_apps.releases.queries import MANAGE, list_releases
from proofroom_apps.releases.services import add_item

ACTION: Final = "release"
MAX_AT_ONCE: Final = 200
"""Maximum number of posts that the list adds in one step."""
_MAX_OFFERED: Final = 100
_MAX_NAMED: Final = 5


def open_releases(request: HttpRequest) -> list[Release]:
    """Return the releases that take items, the latest first. One query."""
    rows = list_releases(actor_of(request)).filter(state__in=EDITABLE)
    return list(rows[:_MAX_OFFERED])


class ReleasesOnPostPages(PostPagesExtension):
    def review_panel(self, request: HttpRequest, post: Post) -> SafeString:
        if not may(request, MANAGE):
            return SafeString()
        waiting = Release.objects.filter(
            state__in=EDITABLE, items__object_id=post.pk, items__kind="changes"
        )
        context = {"releases": open_releases(request), "waiting": list(waiting.order_by("pk"))}
        return SafeString(render_to_string("admin/releases/review_panel.html", context, request))

    def take_accepted(
        self, request: HttpRequest, post: Post, action: str, accept: Collection[str]
    ) -> HttpResponse | None:
        if action != ACTION:
            return None
        if not accept:
            raise invalid("paths", _("Accept the changes that are to go live with the release."))
        try:
            release_id = UUID(request.POST.get("release", ""))
        except ValueError:
            raise invalid("release", _("Choose a release.")) from None
        item, _is_new = add_item(
            release_id=release_id,
            kind="changes",
            object_id=post.pk,
            actor=actor_of(request),
            paths=list(accept),
            digest=request.POST.get("digest", ""),
        )
        text = _("Added to the release “%(name)s”. The changes stay in Review until it goes live.")
        messages.success(request, text % {"name": item.release.name})
        return HttpResponseRedirect(review_url(post, Layer.REVIEW))

    def list_actions(self) -> Iterable[ListAction]:
        return (
            ListAction(
                "add_to_release", gettext_lazy("Add {number} to a release…"), MANAGE, choose_release
            ),
        )


post_pages_extensions.register(ReleasesOnPostPages(), name="releases", order=4)


class ChooseReleaseForm(forms.Form):
    """The release for posts of the list. `posts`: their ids, separated by commas."""

    posts = forms.CharField(widget=forms.HiddenInput, max_length=40 * MAX_AT_ONCE)
    release = forms.ChoiceField(label=gettext_lazy("Release"))

    def __init__(self, request: HttpRequest, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # handed on
        field = self.fields["release"]
        choices = [(str(release.pk), release.name) for release in open_releases(request)]
        field.choices = choices  # type: ignore[attr-defined]  # of a ChoiceField


def choose_release(request: HttpRequest, ids: Sequence[str]) -> HttpResponse:
    """Show the form that chooses a release for posts of the list."""
    if len(ids) > MAX_AT_ONCE:
        messages.error(request, _("Select at most %(most)s posts.") % {"most": MAX_AT_ONCE})
        return HttpResponseRedirect(request.get_full_path())
    form = ChooseReleaseForm(request, initial={"posts": ",".join(ids)})
    if not form.fields["release"].choices:  # type: ignore[attr-defined]  # of a ChoiceField
        messages.error(request, _("There is no open release. Create one first."))
        return HttpResponseRedirect(reverse("admin:proofroom_releases_release_add"))
    return _choose_page(request, form)


@service_errors_as_http
def add_posts(request: HttpRequest) -> HttpResponse:
    """Add drafts to a release. A post that cannot be added doesn't stop the others."""
    require(request, MANAGE)
    form = ChooseReleaseForm(request, request.POST or None)
    if not form.is_valid():
        return _choose_page(request, form)
    ids = [id_ for id_ in form.cleaned_data["posts"].split(",") if id_][:MAX_AT_ONCE]
    release_id, added, refused = form.cleaned_data["release"], 0, []
    posts = visible_to(Post.objects.alive(), actor_of(request)).in_bulk(
        [UUID(id_) for id_ in ids if _is_uuid(id_)]
    )
    for post in posts.values():
        try:
            add_item(release_id=release_id, kind="post", object_id=post.pk, actor=actor_of(request))
            added += 1
        except CmsError as error:
            refused.append(f"{post.title}: {error.message}")
    if added:
        text = ngettext(
            "%(count)s draft added to the release.", "%(count)s drafts added to the release.", added
        )
        messages.success(request, text % {"count": added})
    for sentence in refused[:_MAX_NAMED]:
        messages.error(request, sentence)
    return HttpResponseRedirect(
        reverse("admin:proofroom_releases_release_change", args=[release_id])
    )


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _choose_page(request: HttpRequest, form: ChooseReleaseForm) -> HttpResponse:
    context = {"action": reverse("admin:proofroom_releases_release_add_posts")}
    return form_page(
        request,
        "admin/releases/choose.html",
        Release,
        context,
        title=_("Add to a release"),
        form=form,
    )
