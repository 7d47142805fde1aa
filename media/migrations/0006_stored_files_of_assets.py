"""The files that are there get their rows."""

from django.db import migrations

_BATCH = 500


def give_rows(apps, schema_editor):
    Asset = apps.get_model("media", "Asset")
    StoredFile = apps.get_model("media", "StoredFile")
    rows = []
    for asset in Asset.objects.order_by("pk").iterator(chunk_size=_BATCH):
        names = {asset.file.name, *asset.variants.values(), *asset.dark_variants.values()}
        rows += [StoredFile(name=name, asset_id=asset.pk) for name in names if name]
        if len(rows) >= _BATCH:
            StoredFile.objects.bulk_create(rows, ignore_conflicts=True)
            rows = []
    StoredFile.objects.bulk_create(rows, ignore_conflicts=True)


class Migration(migrations.Migration):
    dependencies = [
        ("media", "0005_search"),
    ]

    operations = [
        migrations.RunPython(give_rows, migrations.RunPython.noop),
    ]
