"""The overview's chart and credentials, and the page of operations. Needs nothing but deliveries that have ended, which the
journey has before it opens the browser."""


def run(browsing, page, known):
    page.goto(browsing.base + "/console")
    page.wait_for_selector("#credentials tbody tr")
    # What ended is counted within a second or two; the live part shows it by itself.
    page.wait_for_selector("#activity svg.plot rect", timeout=15_000)
    page.click("#activity-table summary")
    browsing.expect(page.locator("#activity-table tbody tr").count() == 24, "a row for each hour")
    browsing.expect(page.locator("#activity .figures").count() <= 1, "rates stand together")

    page.goto(browsing.base + "/console/operations")
    for part in ("health", "queue", "credentials", "workers", "redis", "prunes", "audit"):
        browsing.expect(page.locator("#" + part).count() == 1, "operations have " + part)
    browsing.expect(page.locator("#credentials tbody .state").count() > 0, "each credential has a state")
    browsing.expect("MiB" in page.locator("#redis").inner_text(), "the memory of Redis")
