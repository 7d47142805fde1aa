"""Template filters for labels of post types and modules."""

from __future__ import annotations

from django import template

from content.document.labels import module_label, type_label

register = template.Library()
register.filter("type_label", type_label)
register.filter("module_label", module_label)
