import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='FileCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('asked_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('checked', models.PositiveBigIntegerField(default=0)),
                ('missing_count', models.PositiveBigIntegerField(default=0)),
                ('orphaned_count', models.PositiveBigIntegerField(default=0)),
                ('missing', models.JSONField(default=list)),
                ('orphaned', models.JSONField(default=list)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Asset',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('filename', models.CharField(max_length=255)),
                ('file', models.FileField(max_length=300, upload_to='')),
                ('size', models.PositiveBigIntegerField()),
                ('mime', models.CharField(max_length=100)),
                ('width', models.PositiveIntegerField(blank=True, null=True)),
                ('height', models.PositiveIntegerField(blank=True, null=True)),
                ('variants', models.JSONField(blank=True, default=dict)),
                ('dark_variants', models.JSONField(blank=True, default=dict)),
                ('status', models.CharField(choices=[('processing', 'Generating sizes'), ('ready', 'Ready'), ('failed', 'Failed')], default='ready', max_length=12)),
                ('focal_x', models.FloatField(blank=True, null=True)),
                ('focal_y', models.FloatField(blank=True, null=True)),
                ('digest', models.CharField(blank=True, db_index=True, default='', max_length=64)),
                ('alt_text', models.CharField(blank=True, default='', max_length=500)),
                ('alt_texts', models.JSONField(blank=True, default=dict)),
                ('is_decorative', models.BooleanField(default=False)),
                ('description', models.CharField(blank=True, default='', max_length=2000)),
                ('categories', models.JSONField(blank=True, default=list)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('uploaded_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'file',
                'verbose_name_plural': 'media',
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='AssetSearchEntry',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('word_rules', models.PositiveSmallIntegerField(db_default=1)),
                ('asset', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='media.asset')),
            ],
        ),
        migrations.CreateModel(
            name='StoredFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=300, unique=True)),
                ('due_at', models.DateTimeField(blank=True, db_index=True, null=True)),
                ('is_deleted', models.BooleanField(default=False)),
                ('asset', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='files', to='media.asset')),
            ],
        ),
        migrations.CreateModel(
            name='MediaReference',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('holder_kind', models.CharField(max_length=20)),
                ('holder_id', models.UUIDField()),
                ('layer', models.CharField(max_length=10)),
                ('path', models.CharField(max_length=300)),
                ('asset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='references', to='media.asset')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('holder_kind', 'holder_id', 'layer', 'path', 'asset'), name='media_reference_once')],
            },
        ),
        migrations.CreateModel(
            name='VariantWork',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('theme', models.CharField(choices=[('light', 'Light'), ('dark', 'Dark')], max_length=5)),
                ('due_at', models.DateTimeField(db_index=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('is_given_up', models.BooleanField(default=False)),
                ('reason', models.CharField(blank=True, default='', max_length=300)),
                ('asset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='works', to='media.asset')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('asset', 'theme'), name='variant_work_once')],
            },
        ),
    ]
