"""Posts in the admin: the list, and the addresses of the pages of a post."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.contrib.admin.views.main import ORDER_VAR
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content import search
from content.models import Draft, Layer, Post
from content.models.post import STANDS_FOR_ITSELF
from content.review.labels import type_label
from proofroom.core.admin.labels import LanguageFilter, language
from proofroom.core.admin.permissions import PermittedAdmin, may
from proofroom.editorial.post_editor.live_preview import live_preview
from proofroom.editorial.post_editor.module_partial import module_part
from proofroom.editorial.post_editor.module_picker import picker
from proofroom.editorial.post_editor.presence import report_presence
from proofroom.editorial.post_editor.reference_search import search_targets
from proofroom.editorial.post_editor.richtext_field import richtext
from proofroom.editorial.post_editor.save import edit
from proofroom.editorial.posts.add_post import add
from proofroom.editorial.posts.layer_preview import preview, preview_frame
from proofroom.editorial.posts.list_columns import PostTypeFilter
from proofroom.editorial.posts.panels import ListAction, list_actions
from proofroom.editorial.posts.post_pages import post_url, review_url
from proofroom.editorial.posts.revisions import compare, restore, revisions
from proofroom.editorial.posts.titles import title_of, with_proposed_titles
from proofroom.editorial.posts.trash import delete, trash
from proofroom.editorial.review.decisions import review
from proofroom.editorial.review.edit_change import review_edit
from proofroom.editorial.review.restore_rejection import rejection
from proofroom.editorial.translations.post_translations import VIEWS as COPIES

_MOST_CHOSEN = 1000
"""Posts that an action is told of; it says itself how many it takes."""


class WaitingFilter(admin.SimpleListFilter):
    """Posts with something in a layer."""

    title = gettext_lazy("waiting in")
    parameter_name = "waiting"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(Layer.AI_REVIEW.value, "AI Review"), (Layer.REVIEW.value, "Review")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Post]) -> QuerySet[Post]:
        return (
            queryset.filter(_waits(self.value() or ""))
            if self.value() in Layer.values
            else queryset
        )


def _waits(layer: str) -> Exists:
    return Exists(Draft.objects.filter(post=OuterRef("pk"), layer=layer, is_empty=False))


@admin.register(Post)
class PostAdmin(PermittedAdmin[Post]):
    view_permission = "posts.view"
    empty_words = gettext_lazy(
        "Everything on the site begins with a post: a page, an article, or an entry of another type."
    )
    list_display = ("name", "kind", language, "state", "waiting", "updated_at")
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
        found: QuerySet[Post] = super().get_queryset(request).filter(STANDS_FOR_ITSELF)
        return with_proposed_titles(found.defer("jsonld_overrides", "custom_fields")).annotate(
            in_review=_waits(Layer.REVIEW), in_ai_review=_waits(Layer.AI_REVIEW)
        )

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return what other apps do with several posts. Django's own actions write past the services."""
        return {
            action.name: (_done_by(action), action.name, action.label)
            for action in list_actions(request)
        }

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Post], search_term: str
    ) -> tuple[QuerySet[Post], bool]:
        if not search_term:
            return queryset, False
        found = search.search_posts(queryset, search_term)
        return found if ORDER_VAR in request.GET else search.order_by_rank(found), False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return super().changelist_view(request, {"title": _("Posts"), **(extra_context or {})})

    @admin.display(description=gettext_lazy("Title"), ordering="title")
    def name(self, post: Post) -> SafeString | str:
        if not post.is_placeholder:
            return post.title
        mark = '<span class="badge badge-ai-review">{}</span>'
        return format_html("{} " + mark, title_of(post, post), _("proposed"))

    @admin.display(description=gettext_lazy("Type"), ordering="type")
    def kind(self, post: Post) -> str:
        return type_label(post.type)

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

    def get_urls(self) -> list[URLPattern]:
        def wrap(view: Any) -> Any:
            return self.admin_site.admin_view(view)

        own = [
            path("add/", wrap(add), name="content_post_add"),
            path("trash/", wrap(trash), name="content_post_trash"),
            path("richtext/", wrap(richtext), name="content_post_richtext"),
            path("targets/", wrap(search_targets), name="content_post_targets"),
            path("<uuid:post_id>/change/", wrap(edit), name="content_post_change"),
            path("<uuid:post_id>/change/module/", wrap(module_part), name="content_post_module"),
            path(
                "<uuid:post_id>/change/editing/", wrap(report_presence), name="content_post_editing"
            ),
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
            path("<uuid:post_id>/delete/", wrap(delete), name="content_post_delete"),
            *[
                path(f"<uuid:post_id>/{name}/", wrap(view), name=f"content_post_{name}")
                for name, view in COPIES.items()
            ],
            path("<uuid:post_id>/history/", wrap(_history), name="content_post_history"),
            path("<uuid:post_id>/revisions/", wrap(revisions), name="content_post_revisions"),
            path("<uuid:post_id>/revisions/compare/", wrap(compare), name="content_post_compare"),
            path(
                "<uuid:post_id>/revisions/<uuid:revision_id>/restore/",
                wrap(restore),
                name="content_post_restore",
            ),
            path("<uuid:post_id>/", wrap(_to_change), name="content_post_page"),
        ]
        # Of Django's own pages only the list is left: its forms would save rows past the services.
        return own + [
            found for found in super().get_urls() if found.name == "content_post_changelist"
        ]


def _done_by(action: ListAction) -> Callable[..., HttpResponse]:
    def do(admin_: object, request: HttpRequest, chosen: QuerySet[Post]) -> HttpResponse:
        ids = chosen.order_by("pk").values_list("pk", flat=True)[: _MOST_CHOSEN + 1]
        return action.run(request, [str(id_) for id_ in ids])

    return do


def _history(request: HttpRequest, post_id: UUID) -> HttpResponse:
    return HttpResponseRedirect(post_url("revisions", str(post_id)))


def _to_change(request: HttpRequest, post_id: UUID) -> HttpResponse:
    return HttpResponseRedirect(post_url("change", str(post_id)))
