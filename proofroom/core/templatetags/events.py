"""Labels of event kinds in templates."""

from __future__ import annotations

from django import template

from proofroom.core.admin.labels import kind_label

register = template.Library()
register.filter("kind_label", kind_label)
