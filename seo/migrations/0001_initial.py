import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Redirect',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('from_path', models.CharField(max_length=2000)),
                ('from_key', models.CharField(max_length=64, unique=True)),
                ('to_path', models.CharField(max_length=2000)),
                ('to_key', models.CharField(blank=True, default='', max_length=64)),
                ('type', models.PositiveSmallIntegerField(choices=[(301, 'Permanent'), (302, 'Temporary')], default=301)),
                ('locale', models.CharField(max_length=12)),
                ('is_active', models.BooleanField(default=True)),
                ('is_automatic', models.BooleanField(default=False)),
                ('hits', models.PositiveBigIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
            ],
            options={
                'indexes': [models.Index(models.OrderBy(models.F('created_at'), descending=True), models.F('id'), name='redirect_list'), models.Index(fields=['to_key'], name='redirect_to')],
                'constraints': [models.CheckConstraint(condition=models.Q(('type__in', [301, 302])), name='redirect_type_known')],
            },
        ),
    ]
