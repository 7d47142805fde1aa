"""The admin of content. Importing it registers every class."""

from proofroom_apps.editorial import post_admin
from proofroom_apps.editorial.find_replace import replacement_admin
from proofroom_apps.editorial.module_layouts import global_module_admin, group_admin
from proofroom_apps.editorial.posts import job_admin, url_pattern_admin

__all__ = [
    "global_module_admin",
    "group_admin",
    "job_admin",
    "post_admin",
    "replacement_admin",
    "url_pattern_admin",
]
