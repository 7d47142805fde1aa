"""The admin of taxonomy terms. Importing it registers every class."""

from proofroom.taxonomies.admin import term_admin

__all__ = ["term_admin"]
