"""The admin of forms: definitions and what visitors sent."""

from forms.admin import definitions, submissions

__all__ = ["definitions", "submissions"]
