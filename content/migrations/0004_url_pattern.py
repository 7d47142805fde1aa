from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [("content", "0003_search")]

    operations = []
