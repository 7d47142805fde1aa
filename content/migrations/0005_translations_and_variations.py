import uuid

import django.db.models.deletion
from django.db import migrations, models


def keep(apps, schema_editor):
    """There are no variations before this migration."""


def delete_variations(apps, schema_editor):
    """Before this migration there is one post of a slug, and nothing tells a variation from it."""
    apps.get_model("content", "Post").objects.filter(variation_of__isnull=False).delete()
    if schema_editor.connection.vendor == "postgresql":
        # What waits to be checked would not let the table be altered.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        schema_editor.execute("SET CONSTRAINTS ALL DEFERRED")


class Migration(migrations.Migration):

    dependencies = [
        ("content", "0004_url_pattern"),
    ]

    operations = [
        migrations.CreateModel(
            name='CopyOrigin',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('modules', models.JSONField(default=dict)),
                ('hashes', models.JSONField(default=dict)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'verbose_name': 'origin of a copy',
            },
        ),
        migrations.RemoveConstraint(
            model_name='post',
            name='post_slug_once',
        ),
        migrations.RemoveConstraint(
            model_name='post',
            name='post_one_per_locale',
        ),
        migrations.RemoveIndex(
            model_name='post',
            name='post_list',
        ),
        migrations.RemoveIndex(
            model_name='post',
            name='post_list_of_type',
        ),
        migrations.RemoveIndex(
            model_name='post',
            name='post_path',
        ),
        migrations.RemoveIndex(
            model_name='post',
            name='post_newest',
        ),
        migrations.AddField(
            model_name='post',
            name='variation',
            field=models.CharField(blank=True, default='', max_length=40),
        ),
        migrations.AddField(
            model_name='post',
            name='variation_of',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='variations', to='content.post'),
        ),
        migrations.AddField(
            model_name='post',
            name='variation_weight',
            field=models.PositiveSmallIntegerField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name='post',
            index=models.Index(models.F('locale'), models.OrderBy(models.F('updated_at'), descending=True), models.F('id'), models.F('type'), models.F('status'), condition=models.Q(('deleted_at__isnull', True), ('variation_of__isnull', True)), name='post_list'),
        ),
        migrations.AddIndex(
            model_name='post',
            index=models.Index(models.F('type'), models.F('locale'), models.F('status'), models.OrderBy(models.F('updated_at'), descending=True), models.F('id'), condition=models.Q(('deleted_at__isnull', True), ('variation_of__isnull', True)), name='post_list_of_type'),
        ),
        migrations.AddIndex(
            model_name='post',
            index=models.Index(models.F('type'), models.F('locale'), models.OrderBy(models.F('published_at'), descending=True), models.F('id'), condition=models.Q(('deleted_at__isnull', True), ('variation_of__isnull', True), ('is_placeholder', False), ('status', 'published')), name='post_newest'),
        ),
        migrations.AddIndex(
            model_name='post',
            index=models.Index(condition=models.Q(('deleted_at__isnull', True), ('variation_of__isnull', True)), fields=['path'], name='post_path'),
        ),
        migrations.AddConstraint(
            model_name='post',
            constraint=models.UniqueConstraint(condition=models.Q(('deleted_at__isnull', True), ('variation_of__isnull', True)), fields=('type', 'locale', 'slug'), name='post_slug_once'),
        ),
        migrations.AddConstraint(
            model_name='post',
            constraint=models.UniqueConstraint(condition=models.Q(('deleted_at__isnull', True), ('variation_of__isnull', True)), fields=('translation_group', 'locale'), name='post_one_per_locale'),
        ),
        migrations.AddConstraint(
            model_name='post',
            constraint=models.UniqueConstraint(condition=models.Q(('deleted_at__isnull', True), ('variation_of__isnull', False)), fields=('variation_of', 'variation'), name='post_variation_once'),
        ),
        migrations.AddConstraint(
            model_name='post',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('variation__gt', ''), ('variation_of__isnull', False), ('variation_weight__isnull', False)), models.Q(('variation', ''), ('variation_of__isnull', True), ('variation_weight__isnull', True)), _connector='OR'), name='post_variation_has_name'),
        ),
        migrations.AddConstraint(
            model_name='post',
            constraint=models.CheckConstraint(condition=models.Q(('status', 'published'), ('variation_of__isnull', False), _negated=True), name='post_variation_not_published'),
        ),
        migrations.AddField(
            model_name='copyorigin',
            name='post',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='origin', to='content.post'),
        ),
        migrations.RunPython(keep, delete_variations),
    ]
