import io
import pytest
from tests import make
from tests.admin.test_media import asset, address
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
def test_it(open_page):
    a = asset()
    u = make.user("editor")
    page = open_page(role="admin")
    for n, p in enumerate(["/admin/help/", "/admin/media/asset/", address(a), "/admin/media/asset/add/", f"/admin/accounts/user/{u.pk}/change/"]):
        page.goto(p); page.screenshot(path=f"/tmp/shot{n}.png")
