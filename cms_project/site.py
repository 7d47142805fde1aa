"""The admin site: title, navigation and home."""

from django.contrib import admin


class CmsAdminSite(admin.AdminSite):
    site_header = "CMS"
    site_title = "CMS"
    index_title = "Content"
