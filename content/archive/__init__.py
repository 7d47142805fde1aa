"""Content in an archive: posts with their layers and revisions, and the objects they use."""
