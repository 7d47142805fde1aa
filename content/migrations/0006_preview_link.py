from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("content", "0005_translations_and_variations")]

    operations = []
