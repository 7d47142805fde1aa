-- Return whether a mark is of an agent or AI client, and no person has edited the text since.
  SELECT (coalesce(mark ->> 'agent_id', '') <> '' OR coalesce(mark ->> 'via', '') IN ('mcp', 'agent'))
    AND coalesce(mark ->> 'edited_by', '') = ''
