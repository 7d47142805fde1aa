"""URLs of a site with addresses of its own."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import path

from cms_project.urls import urlpatterns as product_urls


def shop(request: HttpRequest, number: int = 0) -> HttpResponse:
    return HttpResponse(str(number))


urlpatterns = [path("shop/", shop), path("shop/<int:number>/", shop), *product_urls]
