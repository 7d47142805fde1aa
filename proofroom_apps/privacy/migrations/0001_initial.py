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
            name='PersonalDataRequest',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('state', models.CharField(choices=[('running', 'Running'), ('done', 'Done'), ('cancelled', 'Cancelled'), ('failed', 'Failed')], default='running', max_length=10)),
                ('why', models.TextField(blank=True, default='')),
                ('by_name', models.CharField(blank=True, default='', max_length=150)),
                ('language', models.CharField(blank=True, db_default='', default='', max_length=20)),
                ('attempts', models.PositiveSmallIntegerField(db_default=0, default=0)),
                ('touched_at', models.DateTimeField(auto_now=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('action', models.CharField(choices=[('search', 'Search'), ('export', 'Export'), ('erase', 'Erase')], max_length=10)),
                ('email', models.CharField(blank=True, max_length=254)),
                ('account_id', models.BigIntegerField(null=True)),
                ('username', models.CharField(blank=True, max_length=150)),
                ('pending', models.JSONField(default=list)),
                ('results', models.JSONField(default=dict)),
                ('copies', models.JSONField(default=list)),
                ('via', models.CharField(default='admin', max_length=10)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'request about personal data',
                'verbose_name_plural': 'requests about personal data',
                'ordering': ['-created_at', '-id'],
                'indexes': [models.Index(fields=['-created_at', '-id'], name='privacy_request_newest'), models.Index(condition=models.Q(('state', 'running')), fields=['touched_at'], name='privacy_request_running')],
            },
        ),
        migrations.CreateModel(
            name='ExportChunk',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=100)),
                ('number', models.PositiveIntegerField()),
                ('content', models.BinaryField()),
                ('request', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='chunks', to='proofroom_privacy.personaldatarequest')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('request', 'kind', 'number'), name='privacy_chunk_once')],
            },
        ),
    ]
