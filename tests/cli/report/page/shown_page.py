"""A page as a browser shows it."""
import browser


def shown(test, path):
    """The page at a path, which fits in two widths of a window and complains of nothing; skips where no browser is."""
    one = browser.start()
    if one is None:
        test.skipTest("no Chromium is here that starts")
    test.addCleanup(one.close)
    page = one.page(path)
    page.wait_for("document.body && document.body.dataset.ready === '1'")
    for width in 390, 1280:
        page.resize(width, 844)
        test.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"),
                             page.evaluate("document.documentElement.clientWidth"))
    test.assertEqual(page.complaints(), [])
    return page
