"""Posts in the admin: the list, the addresses of the pages of a post, adding, deleting, and the trash."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.views.main import ORDER_VAR
from django.core.paginator import Paginator
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import get_template, render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.generic import RedirectView

from content import search
from content.models import Draft, Layer, Post
from content.models.post import STANDS_FOR_ITSELF, Status
from content.posts.opening_images import load_pictures, opening_module
from content.posts.queries import deleted_posts
from content.posts.scopes import in_scope_of, visible_to
from content.posts.trash import delete_post, find_deleters, restore_post
from content.review.labels import type_label
from content.review.references import media_view
from media.models import Asset
from proofroom.core.admin.labels import LanguageFilter
from proofroom.core.admin.lists import Column, ListAdmin, ViewChangeList
from proofroom.core.admin.permissions import (
    actor_of,
    answers_refusals,
    may,
    refusals_as_messages,
    require,
)
from proofroom.core.errors import NotFound
from proofroom.core.i18n.languages import language_name
from proofroom.core.i18n.time_zones import exact_time
from proofroom.definitions import post_types
from proofroom.editorial.inbox.queue_rows import age_of
from proofroom.editorial.post_editor.autosave import (
    autosave,
    autosave_new,
)
from proofroom.editorial.post_editor.choices import search_targets
from proofroom.editorial.post_editor.module_picker import picker
from proofroom.editorial.post_editor.rich_text import richtext
from proofroom.editorial.post_editor.views import edit, live_preview, module_part, report_presence
from proofroom.editorial.posts.copy_page import copy_pages
from proofroom.editorial.posts.list_columns import PostTypeFilter
from proofroom.editorial.posts.move_pages import move_pages
from proofroom.editorial.posts.new_post import add
from proofroom.editorial.posts.page_tree import page_tree
from proofroom.editorial.posts.panels import ListAction, list_actions
from proofroom.editorial.posts.post_pages import (
    page,
    post_page,
    post_url,
    read,
    review_url,
    title_of,
    with_proposed_titles,
)
from proofroom.editorial.posts.previews import preview, preview_frame, previews
from proofroom.editorial.posts.revisions import compare, restore, revisions
from proofroom.editorial.posts.undo import offer_undo_delete, offer_undo_restore
from proofroom.editorial.posts.variations import variations
from proofroom.editorial.review.decisions import review
from proofroom.editorial.review.edit_change import review_edit
from proofroom.editorial.review.rejections import rejection
from proofroom.editorial.translations.post_translations import translations
from proofroom.editorial.translations.side_by_side import translate

_MAX_CHOSEN = 1000
"""Posts that an action is told of; it says itself how many it takes."""
_TRASH_PAGE_SIZE = 50


class WaitingFilter(admin.SimpleListFilter):
    """Posts with something in a layer."""

    title = gettext_lazy("waiting")
    parameter_name = "waiting"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(Layer.AI_REVIEW.value, "AI Review"), (Layer.REVIEW.value, "Review")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Post]) -> QuerySet[Post]:
        layer = self.value() or ""
        return queryset.filter(_has_staged(layer)) if layer in Layer.values else queryset


def _has_staged(layer: str) -> Exists:
    return Exists(Draft.objects.filter(post=OuterRef("pk"), layer=layer, is_empty=False))


class PostList(ViewChangeList):
    """The rows of a page with their pictures, which are read at once."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        pictures = load_pictures(self.result_list)
        for post in self.result_list:
            post.picture = pictures.get(post.pk)


@admin.register(Post)
class PostAdmin(ListAdmin[Post]):
    view_permission = "posts.view"
    add_title = gettext_lazy("New post")
    empty_words = gettext_lazy("Posts are the pages, articles and other entries of your site.")
    list_display = ("name", "kind", "language", "state", "waiting", "author_name", "changed")
    optional_columns = ("first_published", "scheduled", "created")
    list_display_links = ("name",)
    list_filter = (("type", PostTypeFilter), ("locale", LanguageFilter), "status", WaitingFilter)
    search_fields = ("title",)  # there is a field to search by; `get_search_results` does it
    ordering = ("-updated_at",)
    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return may(request, "posts.create")

    def has_change_permission(self, request: HttpRequest, obj: Post | None = None) -> bool:
        return may(request, "posts.edit") or may(request, "posts.translate")

    def has_delete_permission(self, request: HttpRequest, obj: Post | None = None) -> bool:
        return False  # deleting goes through the trash, one post at a time

    def get_queryset(self, request: HttpRequest) -> QuerySet[Post]:
        found = super().get_queryset(request).filter(STANDS_FOR_ITSELF)
        found = visible_to(found, actor_of(request))
        found = found.select_related("featured_media", "author")
        found = with_proposed_titles(found.defer("jsonld_overrides", "custom_fields")).annotate(
            in_review=_has_staged(Layer.REVIEW),
            in_ai_review=_has_staged(Layer.AI_REVIEW),
            opening=opening_module(),
        )
        if actor_of(request).scopes:
            own = in_scope_of(Post.objects.filter(pk=OuterRef("pk")), actor_of(request))
            found = found.annotate(is_in_scope=Exists(own))
        return found

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[PostList]:
        return PostList

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return what other apps do with several posts. Django's own actions write past the services."""
        return {
            action.name: (_run_on_chosen(action), action.name, action.label)
            for action in list_actions(request)
        }

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Post], search_term: str
    ) -> tuple[QuerySet[Post], bool]:
        if not search_term:
            return queryset, False
        found = search.find_posts(queryset, search_term)
        if ORDER_VAR in request.GET:
            return found.matching(), False
        request.found_posts = found  # type: ignore[attr-defined]  # for the paginator below
        return found.ranked(), False

    def get_paginator(
        self, request: HttpRequest, queryset: QuerySet[Post], *args: Any, **options: Any
    ) -> Paginator[Post]:
        """Pages of a search are read without ranking all that it found."""
        rows = getattr(request, "found_posts", queryset)
        return super().get_paginator(request, rows, *args, **options)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"title": _("Posts"), **(extra_context or {})})

    @admin.display(description=gettext_lazy("Title"), ordering="title")
    def name(self, post: Post) -> SafeString:
        asset: Asset | None = post.picture  # type: ignore[attr-defined]  # of the list
        picture = media_view(asset).url if asset else ""
        return render_to_string(
            "admin/posts/row_name.html",
            {"post": post, "title": title_of(post, post), "picture": picture},
        )

    @admin.display(description=gettext_lazy("Type"), ordering="type")
    def kind(self, post: Post) -> str:
        return type_label(post.type)

    @admin.display(description=gettext_lazy("Language"), ordering="locale")
    def language(self, post: Post) -> SafeString | str:
        name = language_name(post.locale)
        if not post.translated_from_id:
            return name
        return format_html('<a href="{}">{}</a>', post_url("translate", post), name)

    @admin.display(description=gettext_lazy("Status"), ordering="status")
    def state(self, post: Post) -> SafeString:
        return format_html(
            '<span class="badge badge-{}">{}</span>', post.status, post.get_status_display()
        )

    @admin.display(description=gettext_lazy("Waiting"))
    def waiting(self, post: Post) -> SafeString | str:
        parts = []
        for layer, label, has in (
            (Layer.AI_REVIEW, "AI Review", getattr(post, "in_ai_review", False)),
            (Layer.REVIEW, "Review", getattr(post, "in_review", False)),
        ):
            if has:
                parts.append(
                    format_html(
                        '<a class="badge badge-{}" href="{}">{}</a>',
                        layer.value,
                        review_url(post, layer),
                        label,
                    )
                )
        return SafeString(" ".join(parts)) if parts else "—"

    @admin.display(description=gettext_lazy("Author"), ordering="author__username")
    def author_name(self, post: Post) -> str:
        return str(post.author) if post.author else "—"

    @admin.display(description=gettext_lazy("Updated"), ordering="updated_at")
    def changed(self, post: Post) -> SafeString:
        return _age(post.updated_at)

    @admin.display(description=gettext_lazy("First published"), ordering="published_at")
    def first_published(self, post: Post) -> SafeString | str:
        return _age(post.published_at) if post.published_at else "—"

    @admin.display(description=gettext_lazy("Scheduled for"), ordering="publish_at")
    def scheduled(self, post: Post) -> SafeString | str:
        return exact_time(post.publish_at) if post.publish_at else "—"

    @admin.display(description=gettext_lazy("Created"), ordering="created_at")
    def created(self, post: Post) -> SafeString:
        return _age(post.created_at)

    def get_list_display(self, request: HttpRequest) -> list[Column]:
        return [*super().get_list_display(request), _row_menu(request)]

    def get_urls(self) -> list[URLPattern]:
        def wrap(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        own = [
            path("add/", wrap(add), name="content_post_add"),
            path("tree/", wrap(page_tree), name="content_post_tree"),
            path("tree/move/", wrap(move_pages), name="content_post_tree_move"),
            path("tree/copy/", wrap(copy_pages), name="content_post_tree_copy"),
            path("trash/", wrap(trash), name="content_post_trash"),
            path("richtext/", wrap(richtext), name="content_post_richtext"),
            path("targets/", wrap(search_targets), name="content_post_targets"),
            path("<uuid:post_id>/change/", wrap(edit), name="content_post_change"),
            path("<uuid:post_id>/change/module/", wrap(module_part), name="content_post_module"),
            path(
                "<uuid:post_id>/change/editing/", wrap(report_presence), name="content_post_editing"
            ),
            path("add/autosave/", wrap(autosave_new), name="content_post_autosave_new"),
            path("<uuid:post_id>/change/autosave/", wrap(autosave), name="content_post_autosave"),
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
            path("<uuid:post_id>/translate/", wrap(translate), name="content_post_translate"),
            path("<uuid:post_id>/delete/", wrap(delete), name="content_post_delete"),
            path(
                "<uuid:post_id>/translations/",
                wrap(translations),
                name="content_post_translations",
            ),
            path("<uuid:post_id>/variations/", wrap(variations), name="content_post_variations"),
            path("<uuid:post_id>/previews/", wrap(previews), name="content_post_previews"),
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
        # Of Django's own pages only the list is left: its forms would save rows past the services.
        return own + [
            found for found in super().get_urls() if found.name == "content_post_changelist"
        ]


def _age(moment: datetime) -> SafeString:
    return format_html(
        '<time datetime="{}" title="{}">{}</time>',
        moment.isoformat(),
        exact_time(moment),
        age_of(moment),
    )


_STAND_IN: Final = UUID(int=0)
_TITLE, _PATH = "@title@", "@path@"


def _row_menu(request: HttpRequest) -> Callable[[Post], SafeString]:
    """The column with what this person may do with a post. No query.

    The menus of a page differ in little: each kind is rendered once, and a row puts its id, path and title in.
    """
    allowed = {
        "edit": may(request, "posts.edit") or may(request, "posts.translate"),
        "delete": may(request, "posts.delete"),
        "copy": may(request, "posts.create"),
    }
    template = get_template("admin/posts/row_menu.html")
    with_pages = {definition.name for definition in post_types if definition.hierarchical}

    @cache
    def menu(is_theirs: bool, can_copy: bool, layer: str, has_page: bool) -> str:
        able = {name: may_do and is_theirs for name, may_do in allowed.items()}
        context = {
            "id": _STAND_IN,
            "title": _TITLE,
            "path": _PATH if has_page else "",
            "layer": layer,
            "may": {**able, "copy": able["copy"] and can_copy},
        }
        return template.render(context)

    @admin.display(description=gettext_lazy("Actions"))
    def row_menu(post: Post) -> SafeString:
        layer = ""
        if getattr(post, "in_review", False):
            layer = Layer.REVIEW.value
        elif getattr(post, "in_ai_review", False):
            layer = Layer.AI_REVIEW.value
        # Only those who are limited to a part of the content see what they may not change.
        is_theirs = getattr(post, "is_in_scope", True)
        has_page = post.status == Status.PUBLISHED and bool(post.path)
        text = menu(is_theirs, post.type in with_pages, layer, has_page)
        text = text.replace(str(_STAND_IN), str(post.pk)).replace(_PATH, escape(post.path))
        # The title last: it may say anything.
        return SafeString(text.replace(_TITLE, escape(title_of(post, post))))

    return row_menu


def _run_on_chosen(action: ListAction) -> Callable[..., HttpResponse]:
    def do(admin_: object, request: HttpRequest, chosen: QuerySet[Post]) -> HttpResponse:
        ids = chosen.order_by("pk").values_list("pk", flat=True)[: _MAX_CHOSEN + 1]
        return action.run(request, [str(id_) for id_ in ids])

    return do


@answers_refusals
def delete(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET asks, POST puts the post into the trash."""
    require(request, "posts.delete")
    post, layers = read(request, post_id)
    if request.method == "POST":
        deleted = delete_post(post_id=post.pk, actor=actor_of(request))
        text = _("“%(title)s” was moved to the trash.") % {"title": post.title}
        messages.success(request, format_html("{} {}", text, offer_undo_delete(request, deleted)))
        return HttpResponseRedirect(reverse("admin:content_post_changelist"))
    context = {"back": post_url("change", post)}
    return post_page(
        request,
        "admin/posts/delete.html",
        post,
        layers,
        context,
        title=_("Delete: %(title)s") % {"title": post.title},
        tab="source",
    )


@answers_refusals
def trash(request: HttpRequest) -> HttpResponse:
    """The trash: GET lists, POST restores one (`one`), or those that are ticked (`post`)."""
    require(request, "posts.restore")
    if request.method == "POST":
        one = request.POST.get("one")
        for id_ in [one] if one else request.POST.getlist("post")[:_TRASH_PAGE_SIZE]:
            with refusals_as_messages(request):
                try:
                    post_id = UUID(id_)
                except ValueError:
                    raise NotFound(_("This post is not in the trash.")) from None
                post = restore_post(post_id=post_id, actor=actor_of(request))
                text = _("“%(title)s” was restored.") % {"title": post.title}
                messages.success(
                    request, format_html("{} {}", text, offer_undo_restore(request, post))
                )
        return HttpResponseRedirect(request.path)
    seen = visible_to(deleted_posts(), actor_of(request))
    found = Paginator(seen, _TRASH_PAGE_SIZE).get_page(request.GET.get("page"))
    days = settings.CMS_ENV.trash_days
    ends = {post.pk: post.deleted_at + timedelta(days=days) for post in found if post.deleted_at}
    deleted_by = find_deleters([post.pk for post in found])
    rows = [(post, ends.get(post.pk) if days else None, deleted_by.get(post.pk)) for post in found]
    context = {"posts": found, "rows": rows, "days": days}
    return page(request, "admin/posts/trash.html", context, title=_("Trash"))
