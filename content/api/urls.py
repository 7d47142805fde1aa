"""URLs of content under `/api/`. Public URLs come first, because they get most requests."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyView, LazyViewSet

ModuleDefinitionViewSet = LazyViewSet("content.api.definitions.ModuleDefinitionViewSet")
PublicChangeViewSet = LazyViewSet("content.api.delivery.changes.PublicChangeViewSet")
PublicGlobalViewSet = LazyViewSet("content.api.delivery.global_modules.PublicGlobalViewSet")
PublicMediaViewSet = LazyViewSet("content.api.delivery.media.PublicMediaViewSet")
PublicTermViewSet = LazyViewSet("content.api.delivery.terms.PublicTermViewSet")
PublicPostViewSet = LazyViewSet("content.api.delivery.posts.PublicPostViewSet")
FindReplaceViewSet = LazyViewSet("content.api.find_replace.FindReplaceViewSet")
GlobalModuleViewSet = LazyViewSet("content.api.global_modules.GlobalModuleViewSet")
ImportViewSet = LazyViewSet("content.api.import_post.ImportViewSet")
ModuleGroupViewSet = LazyViewSet("content.api.module_groups.ModuleGroupViewSet")
ModuleViewSet = LazyViewSet("content.api.modules.ModuleViewSet")
PageLockViewSet = LazyViewSet("content.api.page_locks.PageLockViewSet")
PostCheckViewSet = LazyViewSet("content.api.post_checks.PostCheckViewSet")
PostViewSet = LazyViewSet("content.api.posts.PostViewSet")
TrashViewSet = LazyViewSet("content.api.posts.TrashViewSet")
ReviewViewSet = LazyViewSet("content.api.review.ReviewViewSet")
ScheduledApprovalViewSet = LazyViewSet("content.api.scheduled_approvals.ScheduledApprovalViewSet")
RevisionViewSet = LazyViewSet("content.api.revisions.RevisionViewSet")
TranslationViewSet = LazyViewSet("content.api.translations.TranslationViewSet")
UrlPatternViewSet = LazyViewSet("content.api.url_patterns.UrlPatternViewSet")
VariationViewSet = LazyViewSet("content.api.variations.VariationViewSet")
XliffViewSet = LazyViewSet("content.api.xliff.XliffViewSet")

post = "posts/<str:post_id>"
shared = "modules/global/<str:global_slug>"
urlpatterns = [
    path("public/posts", PublicPostViewSet.as_view({"get": "list"})),
    path("public/posts/<str:post_id>", PublicPostViewSet.as_view({"get": "retrieve"})),
    path("public/changes", PublicChangeViewSet.as_view({"get": "list"})),
    path("public/terms", PublicTermViewSet.as_view({"get": "list"})),
    path("public/terms/<str:term_id>", PublicTermViewSet.as_view({"get": "retrieve"})),
    path("public/globals/<str:global_slug>", PublicGlobalViewSet.as_view({"get": "retrieve"})),
    path("public/media/<str:asset_id>", PublicMediaViewSet.as_view({"get": "retrieve"})),
    path(
        "schema/delivery",
        LazyView("content.api.delivery.schema.DeliverySchemaView"),
        name="delivery-schema",
    ),
    path("posts/trash", TrashViewSet.as_view({"get": "list"})),
    path("posts/import", ImportViewSet.as_view({"post": "create"})),
    path("posts", PostViewSet.as_view({"get": "list", "post": "create"})),
    path(
        post,
        PostViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(f"{post}/restore", PostViewSet.as_view({"post": "restore"})),
    path(f"{post}/export", PostViewSet.as_view({"get": "export"})),
    path(f"{post}/translations", TranslationViewSet.as_view({"get": "list", "post": "create"})),
    path(f"{post}/translations/up-to-date", TranslationViewSet.as_view({"post": "up_to_date"})),
    path(f"{post}/xliff", XliffViewSet.as_view({"get": "export"})),
    path("xliff", XliffViewSet.as_view({"post": "create"})),
    path(f"{post}/variations", VariationViewSet.as_view({"get": "list", "post": "create"})),
    path(f"{post}/variations/<str:variation_id>", VariationViewSet.as_view({"patch": "change"})),
    path(f"{post}/promote-variation", VariationViewSet.as_view({"post": "promote"})),
    path(f"{post}/modules", ModuleViewSet.as_view({"get": "list", "post": "create"})),
    path(f"{post}/modules/reorder", ModuleViewSet.as_view({"post": "reorder"})),
    path(
        "post-modules/<str:module_id>",
        ModuleViewSet.as_view({"put": "update", "delete": "destroy"}),
    ),
    path("modules/global", GlobalModuleViewSet.as_view({"get": "list", "post": "create"})),
    path(
        shared,
        GlobalModuleViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path(f"{shared}/usage", GlobalModuleViewSet.as_view({"get": "usage"})),
    path(f"{shared}/revisions", GlobalModuleViewSet.as_view({"get": "revisions"})),
    path(
        f"{shared}/revisions/<str:revision_id>/revert",
        GlobalModuleViewSet.as_view({"post": "revert"}),
    ),
    path("modules/static", ModuleDefinitionViewSet.as_view({"get": "static"})),
    path("modules/registry", ModuleDefinitionViewSet.as_view({"get": "registry"})),
    path("modules/<str:module_type>/schema", ModuleDefinitionViewSet.as_view({"get": "describe"})),
    path("module-groups", ModuleGroupViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "module-groups/<str:name>",
        ModuleGroupViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("database/find-replace", FindReplaceViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "database/find-replace/<str:replacement_id>/undo",
        FindReplaceViewSet.as_view({"post": "undo"}),
    ),
    path(f"{post}/changes", ReviewViewSet.as_view({"get": "changes"})),
    path(f"{post}/review", ReviewViewSet.as_view({"put": "save_review"})),
    path(f"{post}/review/approve", ReviewViewSet.as_view({"post": "approve"})),
    path(
        f"{post}/review/schedule",
        ScheduledApprovalViewSet.as_view({"get": "list", "post": "create"}),
    ),
    path(
        f"{post}/review/schedule/<str:schedule_id>",
        ScheduledApprovalViewSet.as_view({"get": "retrieve", "delete": "destroy"}),
    ),
    path(f"{post}/review/reject", ReviewViewSet.as_view({"post": "reject_review"})),
    path(f"{post}/ai-review/submit", ReviewViewSet.as_view({"post": "submit"})),
    path(f"{post}/ai-review/reject", ReviewViewSet.as_view({"post": "reject_ai_review"})),
    path(f"{post}/lock", PageLockViewSet.as_view({"post": "create", "delete": "destroy"})),
    path(f"{post}/checks", PostCheckViewSet.as_view({"get": "retrieve"})),
    path(f"{post}/revisions", RevisionViewSet.as_view({"get": "list"})),
    path(f"{post}/revisions/compare", RevisionViewSet.as_view({"get": "compare"})),
    path(f"{post}/revisions/<str:revision_id>", RevisionViewSet.as_view({"get": "retrieve"})),
    path(f"{post}/revisions/<str:revision_id>/revert", RevisionViewSet.as_view({"post": "revert"})),
    path(f"{post}/provenance", RevisionViewSet.as_view({"get": "provenance"})),
    path("url-patterns", UrlPatternViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "url-patterns/<str:pattern_id>",
        UrlPatternViewSet.as_view({"put": "update", "delete": "destroy"}),
    ),
]
