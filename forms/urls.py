"""URLs of forms on the site."""

from __future__ import annotations

from django.urls import path

from forms.views import form_page

urlpatterns = [path("forms/<str:slug>", form_page, name="site-form")]
