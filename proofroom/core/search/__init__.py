"""Full-text search with one interface for PostgreSQL and SQLite.

All words of a query must match, the last one as a prefix. Accents and case are ignored.
"""

from __future__ import annotations

from proofroom.core.search.entries import RANK, SearchTable, SearchText
from proofroom.core.search.index import find_present, matching, put, puts
from proofroom.core.search.near import MAX_NEAR_CANDIDATES, near_matches
from proofroom.core.search.query import SearchedWords
from proofroom.core.search.ranked_instances import RankedInstances
from proofroom.core.search.ranked_keys import RankedKeys
from proofroom.core.search.words import (
    MAX_INDEXED_BYTES,
    MAX_INDEXED_WORDS,
    MAX_QUERY_WORDS,
    MAX_WORD_LENGTH,
    WORD_RULES,
    Word,
    cut,
    query_words,
    word_positions,
    words_beginning,
)

__all__ = [
    "MAX_INDEXED_BYTES",
    "MAX_INDEXED_WORDS",
    "MAX_NEAR_CANDIDATES",
    "MAX_QUERY_WORDS",
    "MAX_WORD_LENGTH",
    "RANK",
    "WORD_RULES",
    "RankedInstances",
    "RankedKeys",
    "SearchTable",
    "SearchText",
    "SearchedWords",
    "Word",
    "cut",
    "find_present",
    "matching",
    "near_matches",
    "put",
    "puts",
    "query_words",
    "word_positions",
    "words_beginning",
]
