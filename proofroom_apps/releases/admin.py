"""Releases in the admin: the list, and the page of one with its items, conflicts, time and undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from content.models import Layer
from proofroom.core.admin.form_pages import FormAdmin, form_page
from proofroom.core.admin.labels import badge
from proofroom.core.admin.permissions import (
    actor_of,
    may,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.errors import invalid
from proofroom.core.i18n.ages import age_html
from proofroom.core.i18n.time_zones import (
    current_zone_name,
    exact_time,
    find_time_zone,
    from_local_input,
    suggested_times,
    to_local_input,
)
from proofroom.shared_content.proposals import waiting_proposals
from proofroom_apps.editorial.posts.post_pages import post_url
from proofroom_apps.previews.services import USUAL_HOURS
from proofroom_apps.releases import post_pages  # registers the panel of the review
from proofroom_apps.releases.kinds import KINDS, RedirectKind, SharedItemKind
from proofroom_apps.releases.models import NAME_MAX, Release, ReleaseItem, ReleaseState
from proofroom_apps.releases.presenters import conflicts_of
from proofroom_apps.releases.preview_admin import preview_url, preview_urls
from proofroom_apps.releases.preview_links import PREVIEW
from proofroom_apps.releases.queries import (
    MANAGE,
    counted_releases,
    find_release,
    latest_run,
    list_items,
)
from proofroom_apps.releases.runs import publish_release, undo_release
from proofroom_apps.releases.services import (
    add_item,
    change_release,
    create_release,
    delete_release,
    remove_item,
)
from seo.models import Redirect

_ITEMS_PER_PAGE: Final = 100
_MAX_OFFERED: Final = 100
STATES: Final[dict[str, tuple[str, Promise]]] = {
    ReleaseState.OPEN: ("unpublished", gettext_lazy("In preparation")),
    ReleaseState.SCHEDULED: ("scheduled", gettext_lazy("Scheduled")),
    ReleaseState.RUNNING: ("running", gettext_lazy("Running")),
    ReleaseState.PUBLISHED: ("published", gettext_lazy("Live")),
    ReleaseState.UNDONE: ("archived", gettext_lazy("Undone")),
    ReleaseState.FAILED: ("failed", gettext_lazy("Failed")),
}


class ReleaseForm(forms.Form):
    """The name of a release."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=NAME_MAX)


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item in the list of a release. `key` names it in forms."""

    item: ReleaseItem
    kind: str
    url: str
    conflict: str

    @property
    def key(self) -> str:
        return f"{self.item.kind}:{self.item.object_id}"


def release_url(release: Release) -> str:
    return reverse("admin:proofroom_releases_release_change", args=[release.pk])


@admin.register(Release)
class ReleaseAdmin(FormAdmin[Release]):
    view_permission = add_permission = MANAGE
    list_title = gettext_lazy("Releases")
    add_title = gettext_lazy("New release")
    add_button = gettext_lazy("Create release")
    add_form = ReleaseForm
    empty_words = gettext_lazy("A release holds changes that go live at the same moment.")
    list_display = ("name", "look", "live_at", "number", "maker", "created")
    list_filter = ("state",)
    search_fields = ("name",)
    ordering = ("-created_at", "pk")
    list_per_page = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[Release]:
        return counted_releases()

    def get_urls(self) -> list[URLPattern]:
        posts = path(
            "add-posts/",
            self.admin_site.admin_view(post_pages.add_posts),
            name="proofroom_releases_release_add_posts",
        )
        return [posts, *preview_urls(self.admin_site), *super().get_urls()]

    @admin.display(description=gettext_lazy("State"), ordering="state")
    def look(self, release: Release) -> SafeString:
        look, label = STATES[release.state]
        return badge(look, str(label))

    @admin.display(description=gettext_lazy("Goes live"), ordering="at")
    def live_at(self, release: Release) -> str:
        moment = release.published_at or release.at
        return exact_time(moment) if moment is not None else "–"

    @admin.display(description=gettext_lazy("Items"))
    def number(self, release: Release) -> int:
        return int(getattr(release, "item_count", 0))

    @admin.display(description=gettext_lazy("Created by"), ordering="created_by_name")
    def maker(self, release: Release) -> str:
        return release.created_by_name

    @admin.display(description=gettext_lazy("Created"), ordering="created_at")
    def created(self, release: Release) -> SafeString | str:
        return age_html(release.created_at)

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        release = create_release(name=form.cleaned_data["name"], actor=actor_of(request))
        messages.success(request, _("Release created. Add its items now."))
        return HttpResponseRedirect(release_url(release))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """GET shows the release, POST changes it, makes it live or undoes it."""
        return cast(HttpResponse, _release_page(request, object_id))

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Ask on GET, delete on POST."""
        return cast(HttpResponse, _delete_page(request, object_id))


@service_errors_as_http
def _release_page(request: HttpRequest, object_id: str) -> HttpResponse:
    require(request, MANAGE)
    release = find_release(object_id, actor_of(request))
    if request.method == "POST":
        with service_errors_as_messages(request):
            _carry_out(request, release)
        return HttpResponseRedirect(request.get_full_path())
    items = list_items(release)
    page = Paginator(items, _ITEMS_PER_PAGE).get_page(request.GET.get("page"))
    shown = list(page)
    found = conflicts_of(release, shown)
    look, state = STATES[release.state]
    run = latest_run(release) if release.state == ReleaseState.RUNNING else None
    conflicts = len(found)
    context = {
        "release": release,
        "badge": look,
        "state": state,
        "run": run,
        "page_obj": page,
        "rows": [
            ItemRow(item, str(KINDS[item.kind].label), _url_of(item), found.get(item.pk, ""))
            for item in shown
        ],
        "conflicts": ngettext(
            "%(count)s item could not go live now.",
            "%(count)s items could not go live now.",
            conflicts,
        )
        % {"count": conflicts}
        if conflicts and release.is_editable
        else "",
        "offered": _offered(release) if release.is_editable else (),
        "at": to_local_input(release.at) if release.at is not None else "",
        "at_label": _("Go live at (%(zone)s)") % {"zone": current_zone_name()},
        "earliest": to_local_input(timezone.now()),
        "suggested": suggested_times(),
        "may_undo": release.state == ReleaseState.PUBLISHED,
        "delete_url": reverse("admin:proofroom_releases_release_delete", args=[release.pk]),
        "preview_url": preview_url(release) if release.is_editable else "",
        "may_share": may(request, PREVIEW),
        "usual_hours": USUAL_HOURS,
        "name_max": NAME_MAX,
    }
    return form_page(request, "admin/releases/one.html", Release, context, title=release.name)


def _carry_out(request: HttpRequest, release: Release) -> None:
    """Do what a button of the page asks for. Raises `CmsError`."""
    actor, id_ = actor_of(request), release.pk
    action, _separator, key = request.POST.get("action", "").partition("|")
    if action == "rename":
        change_release(release_id=id_, actor=actor, name=request.POST.get("name", ""))
        messages.success(request, _("Saved."))
    elif action == "schedule":
        # The zone in which the page showed its times.
        if (zone := find_time_zone(request.POST.get("time_zone"))) is not None:
            timezone.activate(zone)
        try:
            at = from_local_input(request.POST.get("at", ""))
        except ValidationError as error:
            raise invalid("at", " ".join(error.messages)) from None
        except (ValueError, OverflowError):
            raise invalid("at", _("Choose a date and a time.")) from None
        zone_name = timezone.get_current_timezone_name()
        change_release(release_id=id_, actor=actor, at=at, time_zone=zone_name)
        text = _("Approved. All items go live at this time: %(at)s.")
        messages.success(request, text % {"at": exact_time(at)})
    elif action == "unschedule":
        change_release(release_id=id_, actor=actor, at=None)
        messages.success(request, _("Time removed. The items stay in the release."))
    elif action == "publish":
        run = publish_release(release_id=id_, actor=actor)
        if not run.is_running:
            messages.success(request, _("All items are live."))
    elif action == "undo":
        run = undo_release(release_id=id_, actor=actor)
        if not run.is_running:
            _say_undone(request, release)
    elif action == "add":
        kind, object_id = _split_key(request.POST.get("item", ""))
        add_item(release_id=id_, kind=kind, object_id=object_id, actor=actor)
        messages.success(request, _("Added to the release."))
    elif action == "remove":
        kind, object_id = _split_key(key)
        remove_item(release_id=id_, kind=kind, object_id=object_id, actor=actor)
        messages.success(request, _("Removed from the release. The change itself stays."))
    else:
        raise invalid("action", _("Choose one of the actions."))


def _say_undone(request: HttpRequest, release: Release) -> None:
    messages.success(
        request,
        _(
            "Undone. The site is as it was before the release, and the changes wait in Review again."
        ),
    )
    left = release.items.exclude(failure="").count()
    if left:
        text = ngettext(
            "%(count)s item could not be staged again. It says why.",
            "%(count)s items could not be staged again. Each says why.",
            left,
        )
        messages.warning(request, text % {"count": left})


def _split_key(key: str) -> tuple[str, UUID]:
    kind, _separator, id_ = key.partition(":")
    try:
        return kind, UUID(id_)
    except ValueError:
        raise invalid("item", _("Choose one of the items.")) from None


def _url_of(item: ReleaseItem) -> str:
    """Return the page of an item's object, the review for changes."""
    kind = KINDS[item.kind]
    if item.kind == "changes":
        return f"{post_url('review', str(item.object_id))}?layer={Layer.REVIEW.value}"
    if item.kind == "post":
        return post_url("change", str(item.object_id))
    if isinstance(kind, SharedItemKind):
        return reverse("admin:shared-review", args=[kind.shared_name, item.object_id])
    meta = kind.model._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[item.object_id])


@dataclass(frozen=True, slots=True)
class OfferedGroup:
    """Objects of one kind that can be added, by the key of `ItemRow`."""

    label: str
    choices: Sequence[tuple[str, str]]


def _offered(release: Release) -> list[OfferedGroup]:
    """Return waiting changes of shared content and inactive redirects that are not in the release. Three queries."""
    taken = {f"{kind}:{id_}" for kind, id_ in release.items.values_list("kind", "object_id")}
    names = {kind.shared_name: kind for kind in KINDS.values() if isinstance(kind, SharedItemKind)}
    choices: dict[str, list[tuple[str, str]]] = {}
    for proposal in waiting_proposals()[:_MAX_OFFERED]:
        kind = names[proposal.kind]
        choices.setdefault(str(kind.label), []).append(
            (f"{kind.name}:{proposal.row_id}", proposal.title)
        )
    inactive = Redirect.objects.filter(is_active=False).order_by("-created_at", "pk")
    for row in inactive[:_MAX_OFFERED]:
        choices.setdefault(str(RedirectKind.label), []).append(
            (f"{RedirectKind.name}:{row.pk}", f"{row.from_path} → {row.to_path}")
        )
    groups = (
        OfferedGroup(label, [one for one in found if one[0] not in taken])
        for label, found in choices.items()
    )
    return [group for group in groups if group.choices]


@service_errors_as_http
def _delete_page(request: HttpRequest, object_id: str) -> HttpResponse:
    require(request, MANAGE)
    release = find_release(object_id, actor_of(request))
    if request.method == "POST":
        with service_errors_as_messages(request):
            delete_release(release_id=release.pk, actor=actor_of(request))
            messages.success(request, _("Release deleted. Its items stay as they are."))
            return HttpResponseRedirect(reverse("admin:proofroom_releases_release_changelist"))
        return HttpResponseRedirect(release_url(release))
    context = {
        "sentence": _("This deletes the release. Its items stay as they are."),
        "button": _("Delete"),
        "back": release_url(release),
    }
    return form_page(
        request, "admin/forms/confirm.html", Release, context, title=_("Delete release")
    )
