"""The admin site: title, URLs and home page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import RLock, local
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from django.contrib import admin, messages
from django.contrib.admin.options import ModelAdmin
from django.db import transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def _page_of(request: HttpRequest) -> str:
    """Return the admin page whose form was sent, or the home page if the browser does not send it."""
    sent_from = request.headers.get("Referer", "")
    is_own = url_has_allowed_host_and_scheme(
        sent_from, {request.get_host()}, require_https=request.is_secure()
    )
    # Only paths of the admin, so that the header cannot cause an open redirect.
    page = urlsplit(sent_from if is_own else "")
    if not page.path.startswith("/admin/") or page.path == reverse("admin:login"):
        return reverse("admin:index")
    return page.path + (f"?{page.query}" if page.query else "")


def _refuse_try(
    request: HttpRequest, page: Callable[[HttpRequest], HttpResponse], text: str, wait: int
) -> HttpResponse:
    """Show the page with an empty form and the time to wait. `text` has a placeholder for `wait`, in seconds."""
    request.method = "GET"
    messages.error(request, text % {"wait": wait})
    response = page(request)
    response.status_code = 429
    response["Retry-After"] = str(wait)
    return response


class CmsAdminSite(admin.AdminSite):
    site_header = "Proofroom"
    site_title = "Proofroom"
    index_title = gettext_lazy("Home")
    index_template = "admin/home.html"

    def __init__(self, name: str = "admin") -> None:
        self._loading = RLock()
        self._is_loading = self._is_loaded = False
        self._importing = local()
        super().__init__(name)

    # Django's name and type. All of Django's access to registered models goes through here.
    @property
    def _registry(self) -> dict[type[Model], ModelAdmin[Any]]:
        """The registered admin classes. Reading them imports the admin modules of all apps."""
        if not self._is_loaded and not getattr(self._importing, "registers", False):
            self._load()
        return self._pages

    @_registry.setter
    def _registry(self, pages: dict[type[Model], ModelAdmin[Any]]) -> None:
        self._pages = pages

    def _load(self) -> None:
        """Import the admin modules once. The importing thread sees the classes registered so far; others wait."""
        with self._loading:
            if self._is_loaded or self._is_loading:
                return
            self._is_loading = True
            try:
                admin.autodiscover()
                self._is_loaded = True
            finally:
                self._is_loading = False

    @contextmanager
    def _as_module_registers(self) -> Iterator[None]:
        """Mark the current thread as registering, so that it neither imports other modules nor waits for their
        import.
        """
        # Otherwise two threads that import admin modules could wait for each other.
        before = getattr(self._importing, "registers", False)
        self._importing.registers = True
        try:
            yield
        finally:
            self._importing.registers = before

    def register(self, *args: Any, **options: Any) -> None:
        with self._as_module_registers():
            super().register(*args, **options)

    def unregister(self, *args: Any) -> None:
        with self._as_module_registers():
            super().unregister(*args)

    def get_urls(self) -> list[URLPattern | URLResolver]:
        self._load()  # before the imports below, so that apps register in their order
        # Models are not loaded yet when this module is imported.
        from agents_app.admin.batches import bulk
        from agents_app.admin.quality.quality_page import quality, quality_changes
        from agents_app.admin.run_dialog.field_run import ask_field
        from agents_app.admin.run_dialog.start import ask
        from analytics.admin.heatmap import heatmap
        from analytics.admin.heatmap_frame import heatmap_frame
        from analytics.admin.post_lists import experiments, heatmaps
        from analytics.admin.variations import variations
        from cms_project.help.views import help_image, help_page, help_search
        from cms_project.palette import palette
        from cms_project.site_setup import name_site
        from cms_project.system_health import system
        from mcp_bridge.admin.connect import connect
        from proofroom.accounts.admin.account import account, choose_language, sessions
        from proofroom.core.admin.design import design
        from proofroom.core.admin.undo import undo
        from proofroom.notifications.admin import (
            notification_choices,
            notifications,
            open_notification,
            read_all,
            see,
            unseen_count,
            unsubscribe_page,
        )
        from proofroom.oauth.admin.connected_clients import (
            allow_client_again,
            disconnect_client,
            limit_client,
        )
        from proofroom.oauth.admin.consent import authorize
        from proofroom_apps.calendar.move_page import move as calendar_move
        from proofroom_apps.calendar.page import calendar
        from proofroom_apps.editorial.briefs.history import (
            brief_compare,
            brief_history,
            brief_restore,
        )
        from proofroom_apps.editorial.inbox.batches import (
            inbox_batch,
            inbox_batch_cancel,
            inbox_batches,
        )
        from proofroom_apps.editorial.inbox.page import inbox
        from proofroom_apps.editorial.inbox.similar_changes import inbox_all, inbox_like
        from proofroom_apps.editorial.posts.comments import file_comments
        from proofroom_apps.editorial.shared_content.history import (
            shared_compare,
            shared_history,
            shared_restore,
        )
        from proofroom_apps.editorial.shared_content.preview import shared_pages, shared_preview
        from proofroom_apps.editorial.shared_content.review import shared_approval, shared_review
        from proofroom_apps.editorial.translations.matrix import translations
        from proofroom_apps.editorial.translations.xliff_page import xliff
        from proofroom_apps.feedback.comment_list import comment_list
        from proofroom_apps.steps.absence_page import absence
        from proofroom_apps.steps.admin import post_steps
        from seo.admin.search_engines import address_trace, search_engines

        site_urls: list[URLPattern | URLResolver] = [
            path("language/", require_POST(choose_language), name="language"),
            path("account/", self.admin_view(account), name="account"),
            path("oauth/authorize/", self.admin_view(authorize), name="oauth-authorize"),
            path(
                "oauth/clients/<uuid:connection_id>/allow/",
                self.admin_view(allow_client_again),
                name="oauth-allow",
            ),
            path(
                "oauth/clients/<uuid:connection_id>/limit/",
                self.admin_view(limit_client),
                name="oauth-limit",
            ),
            path(
                "oauth/clients/<uuid:connection_id>/disconnect/",
                self.admin_view(disconnect_client),
                name="oauth-disconnect",
            ),
            path("account/absence/", self.admin_view(absence), name="absence"),
            path("account/sessions/", self.admin_view(sessions), name="sessions"),
            path("notifications/", self.admin_view(notifications), name="notifications"),
            path(
                "notifications/choices/",
                self.admin_view(notification_choices),
                name="notification-choices",
            ),
            path("notifications/count/", self.admin_view(unseen_count), name="notifications-count"),
            path("notifications/seen/", self.admin_view(see), name="notifications-seen"),
            path("notifications/read/", self.admin_view(read_all), name="notifications-read"),
            path(
                "notifications/unsubscribe/<str:token>/",
                unsubscribe_page,
                name="notification-unsubscribe",
            ),
            path(
                "notifications/<int:notification_id>/open/",
                self.admin_view(open_notification),
                name="notification-open",
            ),
            path("undo/", self.admin_view(undo), name="undo"),
            path("site-name/", self.admin_view(name_site), name="site-name"),
            path("palette/", self.admin_view(palette), name="palette"),
            path("design/", self.admin_view(design), name="design"),
            path("inbox/", self.admin_view(inbox), name="inbox"),
            path("inbox/all/", self.admin_view(inbox_all), name="inbox-all"),
            path("inbox/like/<slug:like>/", self.admin_view(inbox_like), name="inbox-like"),
            path("inbox/batches/", self.admin_view(inbox_batches), name="inbox-batches"),
            path(
                "inbox/batches/<uuid:batch_id>/",
                self.admin_view(inbox_batch),
                name="inbox-batch",
            ),
            path(
                "inbox/batches/<uuid:batch_id>/cancel/",
                self.admin_view(inbox_batch_cancel),
                name="inbox-batch-cancel",
            ),
            path(
                "content/translations/",
                self.admin_view(translations),
                name="content-translations",
            ),
            path("content/translations/xliff/", self.admin_view(xliff), name="content-xliff"),
            path(
                "content/shared/<slug:kind_name>/<uuid:row_id>/history/",
                self.admin_view(shared_history),
                name="shared-history",
            ),
            path(
                "content/shared/<slug:kind_name>/<uuid:row_id>/pages/",
                self.admin_view(shared_pages),
                name="shared-pages",
            ),
            path(
                "content/shared/<slug:kind_name>/<uuid:row_id>/preview/",
                self.admin_view(shared_preview),
                name="shared-preview",
            ),
            path(
                "content/shared/<slug:kind_name>/<uuid:row_id>/review/",
                self.admin_view(shared_review),
                name="shared-review",
            ),
            path("comments/", self.admin_view(comment_list), name="comments"),
            path(
                "comments/files/<uuid:asset_id>/",
                self.admin_view(file_comments),
                name="file-comments",
            ),
            path("calendar/", self.admin_view(calendar), name="calendar"),
            path("calendar/move/", self.admin_view(calendar_move), name="calendar-move"),
            path(
                "content/post/<uuid:post_id>/steps/",
                self.admin_view(post_steps),
                name="content_post_steps",
            ),
            path("system/", self.admin_view(system), name="system"),
            path("approval/", self.admin_view(shared_approval), name="shared-approval"),
            path(
                "proofroom_briefs/brief/<uuid:brief_id>/versions/",
                self.admin_view(brief_history),
                name="brief-history",
            ),
            path(
                "proofroom_briefs/brief/<uuid:brief_id>/compare/",
                self.admin_view(brief_compare),
                name="brief-compare",
            ),
            path(
                "proofroom_briefs/brief/<uuid:brief_id>/versions/<int:version>/restore/",
                self.admin_view(brief_restore),
                name="brief-restore",
            ),
            path(
                "content/shared/<slug:kind_name>/<uuid:row_id>/compare/",
                self.admin_view(shared_compare),
                name="shared-compare",
            ),
            path(
                "content/shared/<slug:kind_name>/<uuid:row_id>/restore/<uuid:revision_id>/",
                self.admin_view(shared_restore),
                name="shared-restore",
            ),
            path("seo/search-engines/", self.admin_view(search_engines), name="seo"),
            path("seo/trace/", self.admin_view(address_trace), name="seo-trace"),
            path("agents_app/ask/", self.admin_view(ask), name="agents_app_ask"),
            path("agents_app/bulk/", self.admin_view(bulk), name="agents_app_bulk"),
            path("agents_app/field/", self.admin_view(ask_field), name="agents_app_ask_field"),
            path("quality/", self.admin_view(quality), name="quality"),
            path("quality/changes/", self.admin_view(quality_changes), name="quality-changes"),
            path("mcp/", self.admin_view(connect), name="mcp-connect"),
            path("analytics/heatmaps/", self.admin_view(heatmaps), name="analytics-heatmaps"),
            path(
                "analytics/experiments/",
                self.admin_view(experiments),
                name="analytics-experiments",
            ),
            path(
                "analytics/variations/<uuid:post_id>/",
                self.admin_view(variations),
                name="analytics-variations",
            ),
            path(
                "analytics/heatmap/<uuid:post_id>/",
                self.admin_view(heatmap),
                name="analytics-heatmap",
            ),
            path(
                "analytics/frame/<uuid:post_id>/",
                self.admin_view(heatmap_frame),
                name="analytics-heatmap-frame",
            ),
            path("help/", self.admin_view(help_page), name="help"),
            path("help/search/", self.admin_view(help_search), name="help-search"),
            path("help/<help_page:page>/", self.admin_view(help_page), name="help-page"),
            path("help/images/<str:name>", self.admin_view(help_image), name="help-image"),
        ]
        # No field uses Django's autocomplete view, and it does not check who may see which rows.
        inherited = [
            item
            for item in super().get_urls()
            if not (isinstance(item, URLPattern) and item.name == "autocomplete")
        ]
        return site_urls + inherited

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        from cms_project.help.topics import help_url

        return {**super().each_context(request), "help_url": help_url(request)}

    def admin_view(self, view: View, cacheable: bool = False) -> View:
        """Wrap a view as Django does. A login returns to the page of a form; a GET of a form's URL shows a page."""
        from django.contrib.auth.views import redirect_to_login

        from cms_project.errors import method_not_allowed

        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            is_read = request.method in ("GET", "HEAD")
            if not is_read and not self.has_permission(request):
                return redirect_to_login(_page_of(request), reverse("admin:login"))
            response: HttpResponseBase = inner(request, *args, **kwargs)
            if is_read and response.status_code == 405:
                return method_not_allowed(request, response)
            return response

        return cast("View", wrapper)

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the login page, with the API's limit on attempts. allauth does what follows the password."""
        from proofroom.accounts.admin.login import login_page
        from proofroom.accounts.login_limits import count_login_try

        if request.method == "POST":
            exceeded = count_login_try(request, request.POST.get("username", ""))
            if exceeded is not None:
                text = ngettext(
                    "Too many login attempts. Try again in %(wait)d second.",
                    "Too many login attempts. Try again in %(wait)d seconds.",
                    exceeded.wait,
                )
                return _refuse_try(request, login_page, text, exceeded.wait)
        if request.method == "GET" and self.has_permission(request):
            return HttpResponseRedirect(reverse("admin:index", current_app=self.name))
        return login_page(request)

    def logout(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        from proofroom.accounts.services.sessions import record_logout
        from proofroom.core.admin.permissions import actor_of

        if request.method == "POST" and request.user.is_authenticated:
            record_logout(actor=actor_of(request))
        return super().logout(request, extra_context)

    def password_change(  # type: ignore[override]  # the response to too many attempts is not Django's
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        from proofroom.accounts.admin.login import finish_password_change
        from proofroom.accounts.login_limits import count_for_account

        if request.method == "POST" and request.user.is_authenticated:
            tries = count_for_account(request.user.email)
            if tries.is_over:
                text = ngettext(
                    "Too many attempts. Your password was not changed. Try again in %(wait)d second.",
                    "Too many attempts. Your password was not changed. Try again in %(wait)d seconds.",
                    tries.wait,
                )
                return _refuse_try(request, super().password_change, text, tries.wait)
        with transaction.atomic():
            response = super().password_change(request, extra_context)
            # Django redirects after a valid form.
            if request.method == "POST" and response.status_code == 302:
                finish_password_change(request)
        return response

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """Show the home page: the user's open work and recent changes."""
        from cms_project.overview import overview

        return super().index(request, {**overview(request), **(extra_context or {})})

    def app_index(  # type: ignore[override]  # Django's answer is a page
        self, request: HttpRequest, app_label: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Redirect to the home page: the navigation is by task, not by app."""
        return HttpResponseRedirect(reverse("admin:index"))

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[dict[str, Any]]:
        """Return no apps: the navigation comes from `proofroom.core.admin.navigation`."""
        return []
