-- Return the marks at a path, of what contains it and of its parts, as `mark_of` and `parts_of` do. What a module is
-- made of besides its props has the mark of the module. What may change without a new author is left out.
  -- As `mark_of` and `parts_of`: the marks at a path, of what contains it, and of its parts. What a module is made of
  -- besides its props has the mark of the module.
  SELECT value - ARRAY['drifted', 'conflict', 'note', 'reason'] FROM jsonb_each(marks)
  WHERE key = path OR starts_with(path, key || '.') OR starts_with(key, path || '.')
