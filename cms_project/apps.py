"""The project's own admin site in the place of Django's, and the product's files."""

from django.apps import AppConfig
from django.contrib.admin.apps import SimpleAdminConfig

from cms_project.folders import PRODUCT_DIR


class ProductFilesConfig(AppConfig):
    """Brings `templates`, `static` and `locale` of the product, as any app brings its own.

    So an app that a site lists before it wins, and it wins over Django's admin, which it stands before.
    """

    name = "cms_project"
    label = "product_files"
    path = str(PRODUCT_DIR)


class CmsAdminConfig(SimpleAdminConfig):
    """Loads no admin module: the site does when it is first asked for one, which most processes never do."""

    default_site = "cms_project.site.CmsAdminSite"
