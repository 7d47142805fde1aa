"""Has workers make the sizes of GIFs again: an earlier version made still pictures of those that move."""

from django.db import migrations
from django.utils import timezone


def ask_for_sizes(apps, schema_editor):
    assets = apps.get_model("media", "Asset").objects.filter(mime="image/gif", status="ready")
    works = apps.get_model("media", "VariantWork")
    rows = [
        works(asset_id=pk, theme=theme, due_at=timezone.now())
        for pk, dark in assets.values_list("pk", "dark_variants")
        for theme in (("light", "dark") if dark else ("light",))
    ]
    works.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)


class Migration(migrations.Migration):
    dependencies = [("media", "0003_search_word_rules")]

    operations = [migrations.RunPython(ask_for_sizes, migrations.RunPython.noop)]
