"""The admin of posts: the list, and the URLs of all pages of posts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from django.contrib import admin
from django.contrib.admin import FieldListFilter, ListFilter
from django.contrib.admin.views.main import ORDER_VAR
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.generic import RedirectView

from content.models import SCHEDULED, UNPUBLISHED, Layer, Post, PostAuthor, Status, status_label
from content.models.post import ALIVE_CONDITION
from content.store import search
from content.store.post_queries import filter_by_author, has_changes_in
from content.store.scopes import visible_to
from proofroom.accounts.models import User
from proofroom.core.admin.labels import LanguageFilter
from proofroom.core.admin.lists import ListAdmin, ListColumn
from proofroom.core.admin.permissions import actor_of, may
from proofroom_apps.editorial.post_editor.autosave import autosave, autosave_new
from proofroom_apps.editorial.post_editor.bulk_edit import EDIT, bulk_edit
from proofroom_apps.editorial.post_editor.choices import search_targets
from proofroom_apps.editorial.post_editor.clipboard import copy_modules, paste_modules
from proofroom_apps.editorial.post_editor.edit_link import edit_link
from proofroom_apps.editorial.post_editor.module_picker import picker
from proofroom_apps.editorial.post_editor.new_address import new_address
from proofroom_apps.editorial.post_editor.new_post import add
from proofroom_apps.editorial.post_editor.page_lock import page_lock
from proofroom_apps.editorial.post_editor.rich_text import richtext
from proofroom_apps.editorial.post_editor.views import (
    edit,
    live_preview,
    module_part,
    report_presence,
)
from proofroom_apps.editorial.posts.bulk_actions import ACTIONS
from proofroom_apps.editorial.posts.comments import comments
from proofroom_apps.editorial.posts.copy_page import copy_pages
from proofroom_apps.editorial.posts.extensions import ListAction, list_actions, list_filters
from proofroom_apps.editorial.posts.list_columns import PostTypeFilter
from proofroom_apps.editorial.posts.list_rows import PostChangeList, found_keys
from proofroom_apps.editorial.posts.move_pages import move_pages
from proofroom_apps.editorial.posts.page_tree import page_tree
from proofroom_apps.editorial.posts.post_checks import checks, checks_page, store_accessibility
from proofroom_apps.editorial.posts.post_pages import layer_label
from proofroom_apps.editorial.posts.previews import preview, preview_frame, previews
from proofroom_apps.editorial.posts.rejections import rejection
from proofroom_apps.editorial.posts.revisions import compare, restore, revisions
from proofroom_apps.editorial.posts.trash import delete, trash
from proofroom_apps.editorial.posts.variations import variations
from proofroom_apps.editorial.review.decisions import review
from proofroom_apps.editorial.review.edit_change import review_edit
from proofroom_apps.editorial.review.reviewers import reviewers
from proofroom_apps.editorial.translations.post_translations import translations
from proofroom_apps.editorial.translations.side_by_side import translate

_MAX_AUTHORS = 100
"""Maximum number of authors to choose from in the list."""
_MAX_CHOSEN = 1000
"""Maximum number of posts passed to an action, which checks its own limit."""


class WaitingFilter(admin.SimpleListFilter):
    """Filter for posts with changes in a layer."""

    title = gettext_lazy("pending review")
    parameter_name = "waiting"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(layer.value, layer_label(layer)) for layer in (Layer.AI_REVIEW, Layer.REVIEW)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Post]) -> QuerySet[Post]:
        layer = self.value() or ""
        return queryset.filter(has_changes_in(Layer(layer))) if layer in Layer.values else queryset


class AuthorFilter(admin.SimpleListFilter):
    """Filter for posts that name an account as author."""

    title = gettext_lazy("author")
    parameter_name = "author"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        # Django builds the filters of a list twice when it runs an action.
        known: list[tuple[str, str]] | None = getattr(request, "known_authors", None)
        if known is not None:
            return known
        authors = User.objects.filter(Exists(PostAuthor.objects.filter(user=OuterRef("pk"))))
        found = authors.order_by("username").values_list("pk", "username")[:_MAX_AUTHORS]
        known = [(str(pk), name) for pk, name in found]
        request.known_authors = known  # type: ignore[attr-defined]  # for the next time
        return known

    def queryset(self, request: HttpRequest, queryset: QuerySet[Post]) -> QuerySet[Post]:
        chosen = self.value() or ""
        # At most nine digits, which always fit the column.
        if not chosen.isdecimal() or len(chosen) > 9:
            return queryset
        return filter_by_author(queryset, int(chosen))


class StatusFilter(admin.ChoicesFieldListFilter):
    """Filter for the status as shown: drafts that are scheduled or were published before are separate choices."""

    def choices(self, changelist: Any) -> Iterator[Any]:
        yield from super().choices(changelist)
        for shown in (SCHEDULED, UNPUBLISHED):
            yield {
                "selected": shown in (self.lookup_val or ()),
                "query_string": changelist.get_query_string({self.lookup_kwarg: shown}),
                "display": status_label(shown),
            }

    def queryset(self, request: HttpRequest, queryset: QuerySet[Post]) -> QuerySet[Post]:
        # The stored status of all three is draft. `shown_status` tells them apart by the same dates.
        drafts = queryset.filter(status=Status.DRAFT)
        waiting = {
            SCHEDULED: drafts.filter(publish_at__isnull=False),
            UNPUBLISHED: drafts.filter(publish_at=None, published_at__isnull=False),
            Status.DRAFT.value: drafts.filter(publish_at=None, published_at=None),
        }
        for shown, posts in waiting.items():
            if shown in (self.lookup_val or ()):
                return posts
        found = super().queryset(request, queryset)
        return queryset if found is None else found


@admin.register(Post)
class PostAdmin(ListAdmin[Post]):
    view_permission = "posts.view"
    add_title = gettext_lazy("New post")
    empty_title = gettext_lazy("No posts yet")
    empty_words = gettext_lazy("Posts are the pages, articles and other entries of your site.")
    list_display = ("name", "kind", "language", "state", "waiting", "author_name", "changed")
    optional_columns = ("first_published", "scheduled", "expires", "created")
    list_display_links = ("name",)
    list_filter = (
        ("type", PostTypeFilter),
        ("locale", LanguageFilter),
        ("status", StatusFilter),
        WaitingFilter,
        AuthorFilter,
    )
    has_indexed_labels = True
    # Only makes Django show the search field. `get_search_results` does the search.
    search_fields = ("title",)
    ordering = ("-updated_at",)
    list_per_page = 50
    # Saves the query that counts all posts beside the filtered ones.
    show_full_result_count = False
    change_list_template = "admin/posts/list.html"

    name = ListColumn(gettext_lazy("Title"), "title")
    kind = ListColumn(gettext_lazy("Type"), "type")
    language = ListColumn(gettext_lazy("Language"), "locale")
    state = ListColumn(gettext_lazy("Status"), "status")
    waiting = ListColumn(gettext_lazy("Pending review"))
    author_name = ListColumn(gettext_lazy("Author"), "author__username")
    changed = ListColumn(gettext_lazy("Updated"), "updated_at")
    first_published = ListColumn(gettext_lazy("First published"), "published_at")
    scheduled = ListColumn(gettext_lazy("Scheduled for"), "publish_at")
    expires = ListColumn(gettext_lazy("Unpublish at"), "unpublish_at")
    created = ListColumn(gettext_lazy("Created"), "created_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may(request, "posts.create")

    def has_change_permission(self, request: HttpRequest, obj: Post | None = None) -> bool:
        return may(request, "posts.edit") or may(request, "posts.translate")

    def has_delete_permission(self, request: HttpRequest, obj: Post | None = None) -> bool:
        return False  # deleting goes through the trash, one post at a time

    def get_queryset(self, request: HttpRequest) -> QuerySet[Post]:
        found = super().get_queryset(request).filter(ALIVE_CONDITION)
        return visible_to(found, actor_of(request))

    def get_list_filter(
        self, request: HttpRequest
    ) -> tuple[str | type[ListFilter] | tuple[str, type[FieldListFilter]], ...]:
        return (*self.list_filter, *list_filters())

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[PostChangeList]:
        return PostChangeList

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return the list actions that the user may run. Django's own actions would bypass the services."""
        return {
            action.name: (_run_on_chosen(action), action.name, action.label)
            for action in (EDIT, *ACTIONS, *list_actions())
            if request.user.has_perm(action.permission)
        }

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Post], search_term: str
    ) -> tuple[QuerySet[Post], bool]:
        if not search_term:
            return queryset, False
        shown = partial(found_keys, actor=actor_of(request))
        found = search.find_posts(queryset, search_term, shown=shown)
        # The user sorts by a column, so no rank is needed.
        if ORDER_VAR in request.GET:
            return found.matching(), False
        request.found_posts = found  # type: ignore[attr-defined]  # for the paginator below
        return found.ranked(), False

    def get_paginator(
        self, request: HttpRequest, queryset: QuerySet[Post], *args: Any, **options: Any
    ) -> Paginator[Post]:
        """Paginate search results without ranking all of them."""
        rows = getattr(request, "found_posts", queryset)
        return super().get_paginator(request, rows, *args, **options)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"title": _("Posts"), **(extra_context or {})})

    def get_urls(self) -> list[URLPattern]:
        def wrap(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        own = [
            path("add/", wrap(add), name="content_post_add"),
            path("tree/", wrap(page_tree), name="content_post_tree"),
            path("tree/move/", wrap(move_pages), name="content_post_tree_move"),
            path("tree/copy/", wrap(copy_pages), name="content_post_tree_copy"),
            path("bulk-edit/", wrap(bulk_edit), name="content_post_bulk_edit"),
            path("trash/", wrap(trash), name="content_post_trash"),
            path("richtext/", wrap(richtext), name="content_post_richtext"),
            path("targets/", wrap(search_targets), name="content_post_targets"),
            path("<uuid:post_id>/change/", wrap(edit), name="content_post_change"),
            path("<uuid:post_id>/lock/", wrap(page_lock), name="content_post_lock"),
            path("<uuid:post_id>/change/module/", wrap(module_part), name="content_post_module"),
            path("<uuid:post_id>/change/copied/", wrap(copy_modules), name="content_post_copied"),
            path("<uuid:post_id>/change/pasted/", wrap(paste_modules), name="content_post_pasted"),
            path(
                "<uuid:post_id>/change/editing/", wrap(report_presence), name="content_post_editing"
            ),
            path("add/address/", wrap(new_address), name="content_post_new_address"),
            path("add/autosave/", wrap(autosave_new), name="content_post_autosave_new"),
            path("<uuid:post_id>/change/autosave/", wrap(autosave), name="content_post_autosave"),
            path("<uuid:post_id>/change/link/", wrap(edit_link), name="content_post_edit_link"),
            path("<uuid:post_id>/change/picker/", wrap(picker), name="content_post_picker"),
            path("<uuid:post_id>/review/", wrap(review), name="content_post_review"),
            path("<uuid:post_id>/review/edit/", wrap(review_edit), name="content_post_review_edit"),
            path(
                "<uuid:post_id>/rejections/<str:rejections>/",
                wrap(rejection),
                name="content_post_rejection",
            ),
            path("<uuid:post_id>/preview/", wrap(preview), name="content_post_preview"),
            path(
                "<uuid:post_id>/preview/page/",
                wrap(preview_frame),
                name="content_post_preview_page",
            ),
            path(
                "<uuid:post_id>/preview/typed/",
                wrap(live_preview),
                name="content_post_live_preview",
            ),
            path("<uuid:post_id>/comments/", wrap(comments), name="content_post_comments"),
            path("<uuid:post_id>/checks/", wrap(checks), name="content_post_checks"),
            path("<uuid:post_id>/checks/page/", wrap(checks_page), name="content_post_checks_page"),
            path(
                "<uuid:post_id>/checks/accessibility/",
                wrap(store_accessibility),
                name="content_post_checks_accessibility",
            ),
            path("<uuid:post_id>/translate/", wrap(translate), name="content_post_translate"),
            path("<uuid:post_id>/delete/", wrap(delete), name="content_post_delete"),
            path(
                "<uuid:post_id>/translations/",
                wrap(translations),
                name="content_post_translations",
            ),
            path("<uuid:post_id>/variations/", wrap(variations), name="content_post_variations"),
            path("<uuid:post_id>/previews/", wrap(previews), name="content_post_previews"),
            path("<uuid:post_id>/reviewers/", wrap(reviewers), name="content_post_reviewers"),
            path(
                "<uuid:post_id>/history/",
                wrap(RedirectView.as_view(pattern_name="admin:content_post_revisions")),
                name="content_post_history",
            ),
            path("<uuid:post_id>/revisions/", wrap(revisions), name="content_post_revisions"),
            path("<uuid:post_id>/revisions/compare/", wrap(compare), name="content_post_compare"),
            path(
                "<uuid:post_id>/revisions/<uuid:revision_id>/restore/",
                wrap(restore),
                name="content_post_restore",
            ),
            path(
                "<uuid:post_id>/",
                wrap(RedirectView.as_view(pattern_name="admin:content_post_change")),
                name="content_post_page",
            ),
        ]
        # Only Django's list page is used: its forms would save rows without the services.
        return own + [
            found for found in super().get_urls() if found.name == "content_post_changelist"
        ]


def _run_on_chosen(action: ListAction) -> Callable[..., HttpResponse]:
    def do(admin_: object, request: HttpRequest, chosen: QuerySet[Post]) -> HttpResponse:
        # One more than allowed, so that the action reports the limit.
        ids = chosen.order_by("pk").values_list("pk", flat=True)[: _MAX_CHOSEN + 1]
        return action.run(request, [str(id_) for id_ in ids])

    return do
