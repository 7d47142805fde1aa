"""Preview links."""
