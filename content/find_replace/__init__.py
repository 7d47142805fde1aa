"""Find and replace in content: posts with their modules, and global modules."""
