"""The request of Django behind a request of the API."""

from __future__ import annotations

from rest_framework.request import clone_request
from rest_framework.test import APIRequestFactory

from proofroom.core.api.django_request import django_request
from proofroom.core.api.views import ThrottleFirstView


def test_a_view_and_each_copy_of_its_request_know_the_request_of_django() -> None:
    outer = APIRequestFactory().get("/api/posts")

    request = ThrottleFirstView().initialize_request(outer)

    assert django_request(request) is outer
    assert django_request(clone_request(request, "POST")) is outer
