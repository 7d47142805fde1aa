"""The project's admin site, and the app of the product's files."""

from django.apps import AppConfig
from django.contrib.admin.apps import SimpleAdminConfig

from cms_project.folders import PRODUCT_DIR


class ProductFilesConfig(AppConfig):
    """An app for the product's `templates`, `static` and `locale`.

    Apps that a site lists before it override these files. They override Django's admin, which is listed after it.
    """

    name = "cms_project"
    label = "product_files"
    path = str(PRODUCT_DIR)


class CmsAdminConfig(SimpleAdminConfig):
    """The app of the admin site. It does not import admin modules; the site does at its first use."""

    # Most processes, such as workers, never use the admin.
    default_site = "cms_project.site.CmsAdminSite"
