-- Return the ids of the modules of a document that another document has as well, in their order.
  SELECT array_agg(module ->> 'postModuleId' ORDER BY place)
  FROM jsonb_array_elements(document -> 'modules') WITH ORDINALITY AS listed(module, place)
  WHERE EXISTS (
    SELECT FROM jsonb_array_elements(other -> 'modules') AS there(module)
    WHERE there.module -> 'postModuleId' = listed.module -> 'postModuleId')
