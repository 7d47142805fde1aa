-- Return whether a document and its marks can be read. What cannot be read would break every page of the post.
  SELECT coalesce(
    document - ARRAY['schemaVersion', 'post', 'taxonomyTermIds', 'modules'] = '{}'
    AND document -> 'schemaVersion' = '{schema_version}'
    AND jsonb_typeof(document -> 'post' -> 'type') = 'string'
    AND jsonb_typeof(document -> 'post' -> 'locale') = 'string'
    AND coalesce(jsonb_typeof(document -> 'post' -> 'customFields'), 'object') = 'object'
    AND NOT jsonb_path_exists(document, 'strict $.taxonomyTermIds[*] ? (@.type() != "string")', '{}', true)
    AND jsonb_typeof(document -> 'taxonomyTermIds') = 'array'
    AND jsonb_typeof(document -> 'modules') = 'array'
    AND NOT EXISTS (
      SELECT FROM jsonb_array_elements(document -> 'modules') AS listed(module)
      WHERE coalesce(
        jsonb_typeof(module) <> 'object'
        OR jsonb_typeof(module -> 'postModuleId') <> 'string'
        OR jsonb_typeof(module -> 'moduleInstanceId') <> 'string'
        OR jsonb_typeof(module -> 'type') <> 'string'
        OR jsonb_typeof(module -> 'props') NOT IN ('object', 'null')
        OR jsonb_typeof(module -> 'overrides') NOT IN ('object', 'null'), true))
    AND NOT EXISTS (
      SELECT FROM jsonb_array_elements(document -> 'modules') AS listed(module)
      GROUP BY module -> 'postModuleId' HAVING count(*) > 1)
    AND jsonb_typeof(marks) = 'object'
    AND NOT EXISTS (
      SELECT FROM jsonb_each(marks) mark
      WHERE coalesce(
        jsonb_typeof(mark.value) <> 'object'
        OR NOT mark.value ?& ARRAY['user_id', 'user', 'via', 'at']
        OR mark.value - ARRAY[{mark_names}] <> '{}', true)), false)
