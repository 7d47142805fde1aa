"""Revisions of a post: listed, compared, restored."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _

from content.changes import diff
from content.document import PostDocument
from content.layers import revert_to_revision
from content.models import Post, Revision
from content.review.cards import CardGroup, cards_between
from content.review.references import references_of
from proofroom.core.admin.permissions import actor_of, answers_refusals, may, require
from proofroom.core.errors import CmsError
from proofroom.editorial.posts.post_pages import post_page, post_url, read, split_switch
from proofroom.editorial.review.rejections import rejections_of

_PAGE_SIZE = 50
_MAX_CHOICES = 200


@answers_refusals
def revisions(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """The list, newest first, with two to compare."""
    require(request, "posts.view")
    post, layers = read(post_id)
    rows = post.revisions.defer("document").order_by("-version")
    found = Paginator(rows, _PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "revisions": found,
        "rejections": rejections_of(post, layers) if found.number == 1 else [],
        "may_restore": may(request, "posts.revisions.manage"),
    }
    return post_page(
        request,
        "admin/posts/revisions.html",
        post,
        layers,
        context,
        title=_("Revisions: %(title)s") % {"title": post.title},
        tab="revisions",
    )


@answers_refusals
def compare(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Return what leads from one revision (`?from=`) to another (`&to=`)."""
    require(request, "posts.view")
    post, layers = read(post_id)
    one = find_revision(post, request.GET.get("from", ""))
    other = find_revision(post, request.GET.get("to", ""))
    if one.version > other.version:
        one, other = other, one
    groups = compare_documents(
        PostDocument.from_json(one.document), PostDocument.from_json(other.document)
    )
    # What can be chosen to compare: the latest, and what is chosen already.
    offered = list(post.revisions.defer("document").order_by("-version")[:_MAX_CHOICES])
    known = {revision.pk for revision in offered}
    offered += [revision for revision in (other, one) if revision.pk not in known]
    context = {
        "one": one,
        "other": other,
        "groups": groups,
        "choices": offered,
        **split_switch(request, {"from": str(one.pk), "to": str(other.pk)}),
    }
    return post_page(
        request,
        "admin/posts/compare.html",
        post,
        layers,
        context,
        title=_("Version %(version)s compared with %(version_2)s: %(title)s")
        % {"version": one.version, "version_2": other.version, "title": post.title},
        tab="revisions",
    )


@answers_refusals
def restore(request: HttpRequest, post_id: UUID, revision_id: UUID) -> HttpResponse:
    """GET shows what restoring would change, POST does it."""
    require(request, "posts.revisions.manage")
    post, layers = read(post_id)
    revision = find_revision(post, str(revision_id))
    if request.method == "POST":
        note = f"version {revision.version}"  # it is stored
        try:
            revert_to_revision(
                post_id=post.pk, revision_id=revision.pk, actor=actor_of(request), note=note
            )
        except CmsError as error:
            if error.status in (403, 404):
                raise
            messages.error(request, error.message)
            return HttpResponseRedirect(request.path)
        said = _("The live content is that of version %(version)s again.")
        messages.success(request, said % {"version": revision.version})
        return HttpResponseRedirect(post_url("change", post))
    context = {
        "revision": revision,
        "groups": compare_documents(layers.live, PostDocument.from_json(revision.document)),
        "back": post_url("revisions", post),
        **split_switch(request, {}),
    }
    return post_page(
        request,
        "admin/posts/restore.html",
        post,
        layers,
        context,
        title=_("Restore version %(version)s: %(title)s")
        % {"version": revision.version, "title": post.title},
        tab="revisions",
    )


def compare_documents(before: PostDocument, after: PostDocument) -> list[CardGroup]:
    """Return what leads from one to the other, as cards."""
    changes = diff(before, after)
    return cards_between(before, after, changes, references_of(changes, before, after))


def find_revision(post: Post, revision_id: str) -> Revision:
    """A revision of this very post. Raises `Http404`."""
    try:
        found = post.revisions.filter(pk=UUID(revision_id)).first()
    except ValueError:
        found = None
    if found is None:
        raise Http404(_("This post has no such revision."))
    return found
