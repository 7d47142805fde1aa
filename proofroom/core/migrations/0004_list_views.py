import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('proofroom_core', '0003_notifications_of_rows'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ListView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('list_name', models.CharField(max_length=100)),
                ('name', models.CharField(blank=True, max_length=60)),
                ('query', models.CharField(blank=True, max_length=1500)),
                ('columns', models.JSONField(default=list)),
                ('is_shared', models.BooleanField(default=False)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('opens', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='proofroom_core.listview')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('owner', 'list_name', 'name'), name='list_view_own_name'),
                    models.UniqueConstraint(condition=models.Q(('is_shared', True)), fields=('list_name', 'name'), name='list_view_shared_name'),
                ],
            },
        ),
    ]
