"""Addresses of personal data under `/api/`."""

from __future__ import annotations

from django.urls import path

from proofroom.core.api.lazy_views import LazyViewSet

PersonalDataViewSet = LazyViewSet("proofroom_apps.privacy.api.requests.PersonalDataViewSet")
PublicPrivacyViewSet = LazyViewSet("proofroom_apps.privacy.api.public.PublicPrivacyViewSet")

urlpatterns = [
    path("public/privacy", PublicPrivacyViewSet.as_view({"get": "retrieve"})),
    path(
        "personal-data/requests",
        PersonalDataViewSet.as_view({"get": "list", "post": "create"}),
    ),
    path(
        "personal-data/requests/<str:request_id>",
        PersonalDataViewSet.as_view({"get": "retrieve"}),
    ),
    path(
        "personal-data/requests/<str:request_id>/cancel",
        PersonalDataViewSet.as_view({"post": "cancel"}),
    ),
    path(
        "personal-data/requests/<str:request_id>/file",
        PersonalDataViewSet.as_view({"get": "file"}),
    ),
    path("personal-data/retention", PersonalDataViewSet.as_view({"get": "retention"})),
]
