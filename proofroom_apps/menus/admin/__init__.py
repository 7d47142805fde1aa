"""The admin of menus. Importing it registers every class."""

from proofroom_apps.menus.admin import menu_admin

__all__ = ["menu_admin"]
