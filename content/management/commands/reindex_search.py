"""`manage.py reindex_search`."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand

from content.models import Post
from content.store import search, search_words
from media.models import Asset
from media.search import index_assets
from proofroom.core.batches import batches


class Command(BaseCommand):
    help = "Rebuild the search index of posts and files. Run it after rows were written directly to the database."

    def handle(self, *args: Any, **options: Any) -> None:
        count = search.reindex(Post.objects.order_by("id").values_list("id", flat=True))
        search_words.collect_words()
        for assets in batches(Asset.objects.order_by("pk").iterator()):
            index_assets(assets)
        self.stdout.write(f"Indexed {count} post{'' if count == 1 else 's'}.")
