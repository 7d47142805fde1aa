from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('proofroom_accounts', '0003_delivery_tokens'),
    ]

    operations = [
        migrations.AddField(
            model_name='preferences',
            name='public_name',
            field=models.CharField(blank=True, db_default='', default='', help_text='Name that readers see below what the person wrote. Empty: they see none.', max_length=100),
        ),
    ]
