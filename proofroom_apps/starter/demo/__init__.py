"""Sample content for a fresh installation: texts beside this file, images drawn, all through the real services."""
