"""URLs of forms under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

FormDefinitionViewSet = LazyViewSet("forms.api.definitions.FormDefinitionViewSet")
SubmissionViewSet = LazyViewSet("forms.api.submissions.SubmissionViewSet")
SubmitViewSet = LazyViewSet("forms.api.submissions.SubmitViewSet")

submissions = "forms/<str:slug>/submissions"
urlpatterns = [
    path("forms-definitions", FormDefinitionViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "forms-definitions/<str:slug>",
        FormDefinitionViewSet.as_view({"get": "retrieve", "put": "update", "delete": "destroy"}),
    ),
    path("forms/<str:slug>/submit", SubmitViewSet.as_view({"post": "submit"})),
    path(submissions, SubmissionViewSet.as_view({"get": "list"})),
    path(f"{submissions}/export", SubmissionViewSet.as_view({"get": "export"})),
    path(
        f"{submissions}/<str:submission_id>/files/<str:file_id>",
        SubmissionViewSet.as_view({"get": "file"}),
    ),
    path(
        f"{submissions}/<str:submission_id>",
        SubmissionViewSet.as_view({"get": "retrieve", "delete": "destroy"}),
    ),
]
