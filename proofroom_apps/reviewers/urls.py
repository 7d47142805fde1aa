"""The address of a reviewer link."""

from __future__ import annotations

from django.urls import path

from proofroom_apps.reviewers.views import guest_review

urlpatterns = [path("preview/changes/<str:token>", guest_review, name="guest-review")]
