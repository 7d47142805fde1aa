import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Notification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('group', models.CharField(max_length=100)),
                ('subjects', models.JSONField(default=list)),
                ('count', models.PositiveIntegerField(default=1)),
                ('event_id', models.BigIntegerField()),
                ('created_at', models.DateTimeField()),
                ('updated_at', models.DateTimeField(db_index=True)),
                ('mailed_event_id', models.BigIntegerField(default=0)),
                ('read_at', models.DateTimeField(null=True)),
                ('is_seen', models.BooleanField(default=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notifications', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['user', '-updated_at'], name='notification_latest')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('read_at__isnull', True)), fields=('user', 'kind', 'group'), name='notification_unread_once')],
            },
        ),
        migrations.CreateModel(
            name='NotificationChoice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('channel', models.CharField(choices=[('off', 'Off'), ('admin', 'In the admin'), ('mail', 'In the admin and by email')], max_length=5)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notification_choices', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'kind'), name='notification_choice_once')],
            },
        ),
    ]
