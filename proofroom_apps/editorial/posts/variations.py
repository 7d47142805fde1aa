"""The variations page of a post: running variations, their shares, and a confirmation for each change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.document.labels import label_of, module_names
from content.layers import Layers
from content.models import Post, Revision, Status
from content.models.post import VARIATION_MAX
from content.posts.variations import (
    USUAL_WEIGHT,
    create_variation,
    document_after_promotion,
    promote_variation,
)
from content.presenters.cards import CardGroup
from content.store import post_repository
from content.store.arms import ORIGINAL
from content.store.traffic import change_variation
from proofroom.core.admin.form_pages import save_form
from proofroom.core.admin.permissions import (
    actor_of,
    may,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.errors import Conflict, RuleViolation
from proofroom_apps.editorial.posts.extensions import variation_links
from proofroom_apps.editorial.posts.post_pages import post_page, post_url, read, version_sent
from proofroom_apps.editorial.posts.revisions import compare_documents
from proofroom_apps.website.goals import has_reachable_goal

_QUESTIONS: Final = ("start", "stop", "promote")
_CHANGES: Final = ("weigh", "start", "stop")
_COLORS: Final = 5


class WeightForm(forms.Form):
    weight = forms.IntegerField(
        label=gettext_lazy("Share of visitors (%)"),
        initial=USUAL_WEIGHT,
        min_value=1,
        max_value=100,
    )


class VariationForm(WeightForm):
    variation = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=VARIATION_MAX,
        help_text=gettext_lazy("For example, B. The original is A."),
    )
    field_order = ("variation", "weight")


@dataclass(frozen=True, slots=True)
class VersionChange:
    """Changes by other users in the post or the variation, by label."""

    name: str
    labels: list[str]


def promote_reviewed(request: HttpRequest, post: Post) -> bool:
    """Promote a variation. Return False only if the content changed since the confirmation was shown."""
    with service_errors_as_messages(request):
        try:
            promote_variation(
                post_id=post.pk,
                variation_id=request.POST.get("value", ""),
                actor=actor_of(request),
                expected_version=version_sent(request),
                expected_variation_version=version_sent(request, "variation_version"),
            )
        except Conflict as error:
            if error.code != "stale_version":
                raise
            return False
        messages.success(request, _("Variation promoted. The post now has its content."))
    return True


def find_version_changes(request: HttpRequest, post: Post, row: Post) -> list[VersionChange]:
    """Return the changes by other users in the post and the variation since the submitted versions."""
    found = []
    for one, name in ((post, "version"), (row, "variation_version")):
        since = version_sent(request, name)
        if one.version == since:
            continue
        rows = Revision.objects.filter(post=one, version__gt=since).order_by("version")
        # -1 is an invalid version, from which no changes can be listed.
        changed = rows.values_list("changed_paths", flat=True) if since >= 0 else []
        document = post_repository.load(one)
        names = module_names(document)
        labels = [label_of(path, document, names) for paths in changed for path in paths]
        found.append(VersionChange(one.title, list(dict.fromkeys(labels))))
    return found


@dataclass(frozen=True, slots=True)
class Version:
    """The original or a variation: its share of visitors, and its part of the chart."""

    post: Post
    name: str
    share: int
    begins: int
    is_running: bool
    look: int
    seen_at: str
    form: forms.Form | None = None

    @property
    def is_original(self) -> bool:
        return self.post.variation_of_id is None


@service_errors_as_http
def variations(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET lists variations, or asks (`?ask=start&variation=<id>`) before one is started, stopped or promoted."""
    require(request, "posts.view")
    post, layers = read(request, post_id)
    form = VariationForm(request.POST if request.POST.get("do") == "create" else None)

    def create() -> None:
        create_variation(post_id=post.pk, actor=actor_of(request), **form.cleaned_data)
        text = _("Variation %(variation)s is a draft.")
        messages.success(request, text % {"variation": form.cleaned_data["variation"]})

    if form.is_bound and save_form(form, create):
        return HttpResponseRedirect(request.path)
    do = request.POST.get("do", "")
    if do == "promote":
        if promote_reviewed(request, post):
            return HttpResponseRedirect(request.path)
        # Read again: the content changed since the page was shown.
        return _question(request, *read(request, post_id), "promote")
    if do in _CHANGES:
        with service_errors_as_messages(request):
            _change(request, post, do)
        return HttpResponseRedirect(request.path)
    if request.GET.get("ask") in _QUESTIONS:
        return _question(request, post, layers, request.GET["ask"])
    rows = _rows(post)
    # A variation cannot have variations.
    shown = form if may(request, "posts.create", post) and post.variation_of_id is None else None
    context = {
        "versions": _versions(request, post, rows),
        "is_tested": any(row.variation_running for row in rows),
        "original": post.variation_of,
        "links": variation_links(request, post) if rows else [],
        "form": shown,
        "may_edit": may(request, "posts.edit", post),
        "may_run": may(request, "posts.publish", post),
        "is_published": post.status == Status.PUBLISHED,
    }
    return _page(
        request, "admin/posts/variations.html", post, layers, context, 422 if form.errors else 200
    )


def _change(request: HttpRequest, post: Post, do: str) -> None:
    """Change the share of a variation, or start or stop it, and add a message."""
    fields: dict[str, Any] = {"running": do == "start"}
    if do == "weigh":
        form = WeightForm(request.POST)
        if not form.is_valid():
            raise RuleViolation(_("The share must be a whole number from 1 to 100."))
        fields = form.cleaned_data
    row = change_variation(
        post_id=post.pk,
        variation_id=request.POST.get("value", ""),
        actor=actor_of(request),
        **fields,
    )
    names = {"variation": row.variation, "variation_weight": row.variation_weight}
    texts = {
        "weigh": _("%(variation)s gets %(variation_weight)s %% of visitors."),
        "start": _("Started %(variation)s: shown to %(share)s."),
        "stop": _("Stopped %(variation)s."),
    }
    share = _("%(variation_weight)s %% of visitors") % names
    messages.success(request, texts[do] % {**names, "share": share})


def _rows(post: Post) -> list[Post]:
    return list(post.variations.filter(deleted_at__isnull=True).order_by("variation"))


def _versions(request: HttpRequest, post: Post, rows: list[Post]) -> list[Version]:
    """Return the versions, the original first. In the chart each begins where the previous one ends."""
    # The original gets the visitors that the running variations leave.
    rest = 100 - sum(row.variation_weight or 0 for row in rows if row.variation_running)
    found = [Version(post, ORIGINAL, rest, 0, True, 0, _seen_at(post, ORIGINAL))]
    begins = rest
    for number, row in enumerate(rows):
        share = row.variation_weight or 0
        form = WeightForm(initial={"weight": share}, auto_id=f"%s-{row.variation}")
        shown = form if may(request, "posts.edit", post) else None
        look = 1 + number % _COLORS
        seen_at = _seen_at(post, row.variation) if row.variation_running else ""
        found.append(
            Version(row, row.variation, share, begins, row.variation_running, look, seen_at, shown)
        )
        begins += share if row.variation_running else 0
    return found


def _seen_at(post: Post, name: str) -> str:
    if post.status != Status.PUBLISHED:
        return ""
    return f"{post.path}?{urlencode({'variation': name})}"


def _question(request: HttpRequest, post: Post, layers: Layers, ask: str) -> HttpResponse:
    """Return the confirmation page of a step.

    For a promotion it lists all content changes and, after a conflict, the changes since.
    """
    require(request, "posts.edit" if ask == "promote" else "posts.publish")
    rows = _rows(post)
    chosen = request.POST.get("value", request.GET.get("variation"))
    row = next((row for row in rows if str(row.pk) == chosen), None)
    if row is None:
        raise Http404(_("Variation not found."))
    others = [one for one in rows if one.variation_running and one.pk != row.pk]
    rest = 100 - sum(one.variation_weight or 0 for one in others)
    groups: list[CardGroup] = []
    if ask == "promote":
        groups = compare_documents(
            layers.live, document_after_promotion(row, layers.live), actor_of(request)
        )
    context = {
        "ask": ask,
        "row": row,
        "others": others,
        "rest": rest,
        "after": rest - (row.variation_weight or 0) if ask == "start" else rest,
        "is_published": post.status == Status.PUBLISHED,
        "back": post_url("variations", post),
        "groups": groups,
        "moved": find_version_changes(request, post, row) if request.method == "POST" else [],
        "without_goal": _without_goal(layers, row) if ask == "start" else [],
    }
    status = 409 if context["moved"] else 200
    return _page(request, "admin/posts/variation_question.html", post, layers, context, status)


def _without_goal(layers: Layers, row: Post) -> list[str]:
    """Return the names of the versions without a reachable goal."""
    documents = {ORIGINAL: layers.live, row.variation: post_repository.load(row)}
    return [name for name, document in documents.items() if not has_reachable_goal(document)]


def _page(
    request: HttpRequest,
    template: str,
    post: Post,
    layers: Layers,
    context: dict[str, Any],
    status: int = 200,
) -> HttpResponse:
    return post_page(
        request,
        template,
        post,
        layers,
        context,
        title=_("Variations: %(title)s") % {"title": post.title},
        tab="",
        status=status,
    )
