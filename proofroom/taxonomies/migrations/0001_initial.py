import django.db.models.deletion
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Term',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('taxonomy', models.SlugField(max_length=60)),
                ('slug', models.SlugField(allow_unicode=True, max_length=100)),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True, default='')),
                ('locale', models.CharField(blank=True, default='', max_length=12)),
                ('order_index', models.IntegerField(default=0)),
                ('version', models.PositiveIntegerField(default=1)),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='children', to='proofroom_taxonomies.term')),
            ],
            options={
                'ordering': ['order_index', 'name'],
                'constraints': [models.UniqueConstraint(fields=('taxonomy', 'locale', 'slug'), name='term_slug_once')],
            },
        ),
    ]
