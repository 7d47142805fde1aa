"""Find and replace in content: posts with their modules, global modules, menus, terms."""
