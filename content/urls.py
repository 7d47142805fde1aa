"""Addresses of content beside the site's own pages."""

from django.urls import path

from content.site.previews import preview

urlpatterns = [path("preview/<str:token>", preview, name="preview")]
