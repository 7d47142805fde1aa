"""URLs for search engines at the root of the site."""

from __future__ import annotations

from django.urls import path, re_path

from seo import views

urlpatterns = [
    path("sitemap.xml", views.sitemap, name="sitemap"),
    re_path(r"^sitemap-(?P<number>[1-9][0-9]{0,4})\.xml$", views.sitemap, name="sitemap-part"),
    path("robots.txt", views.robots, name="robots"),
]
