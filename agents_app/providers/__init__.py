"""Who answers an agent: models behind the AI library, and the rule-based demo."""
