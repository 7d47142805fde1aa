"""The admin of taxonomy terms. Importing this package registers its classes."""

from proofroom.taxonomies.admin import term_admin

__all__ = ["term_admin"]
