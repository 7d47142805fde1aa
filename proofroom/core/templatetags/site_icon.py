"""The link to the site's icon in templates."""

from __future__ import annotations

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

from proofroom.core.site_icon import icon_name, icon_type

register = template.Library()


@register.simple_tag
def icon_link() -> SafeString:
    """Return the link element for the head of a page."""
    return format_html('<link rel="icon" href="{}" type="{}">', static(icon_name()), icon_type())
