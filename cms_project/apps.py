"""Puts the project's own admin site in the place of Django's."""

from django.contrib.admin.apps import AdminConfig


class CmsAdminConfig(AdminConfig):
    default_site = "cms_project.site.CmsAdminSite"
