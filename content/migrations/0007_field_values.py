import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('content', '0006_proposals_by_principal'),
    ]

    operations = [
        migrations.CreateModel(
            name='FieldValue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('text', models.CharField(blank=True, default='', max_length=300)),
                ('number', models.FloatField(blank=True, null=True)),
                ('post', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='field_values', to='content.post')),
            ],
            options={
                'indexes': [
                    models.Index(fields=['name', 'text', 'post'], name='field_value_text'),
                    models.Index(fields=['name', 'number', 'post'], name='field_value_number'),
                ],
            },
        ),
    ]
