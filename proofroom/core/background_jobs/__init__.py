"""Work that people start and workers carry out."""
