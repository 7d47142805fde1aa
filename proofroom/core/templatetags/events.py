"""Labels of event kinds in templates."""

from __future__ import annotations

from django import template

from proofroom.core.admin.labels import public_kind_label

register = template.Library()
register.filter("public_kind_label", public_kind_label)
