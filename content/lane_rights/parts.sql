-- Return the values of a document by path, without the order of its modules.
  SELECT 'taxonomyTermIds', coalesce(document -> 'taxonomyTermIds', '[]')
  UNION ALL
  SELECT 'post.' || key, value FROM jsonb_each(document -> 'post') WHERE key <> 'customFields'
  UNION ALL
  SELECT 'post.customFields.' || key, value FROM jsonb_each(coalesce(document -> 'post' -> 'customFields', '{}'))
  UNION ALL
  SELECT 'modules.' || (module ->> 'postModuleId') || '.' || key, value
    FROM jsonb_array_elements(document -> 'modules') AS listed(module), jsonb_each(module)
    WHERE key NOT IN ('props', 'overrides', 'orderIndex')
  UNION ALL
  SELECT 'modules.' || (module ->> 'postModuleId') || '.' || part || '.' || key, value
    FROM jsonb_array_elements(document -> 'modules') AS listed(module), unnest(ARRAY['props', 'overrides']) AS named(part),
      jsonb_each(CASE jsonb_typeof(module -> part) WHEN 'object' THEN module -> part ELSE '{}' END)
