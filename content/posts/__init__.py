"""Posts: create, edit, publish, delete, and the reads of them."""
