"""The admin of forms: definitions and submissions."""

from forms.admin import form_admin, submissions

__all__ = ["form_admin", "submissions"]
