"""A campaign's results, deliveries and report; it is duplicated only where there are drafts."""


def run(browsing, page, known):
    base = browsing.base + "/console"
    campaign = base + "/campaigns/" + known["campaign"]
    page.goto(campaign)
    browsing.expect(page.locator("#results").count() == 1, "the results of a campaign")
    page.click("#look a[href$='/deliveries']")
    page.wait_for_selector("form.filters select[name=state]")
    browsing.expect(page.locator("#list tbody th a").count() > 0, "deliveries lead to their devices")
    page.select_option("form.filters select[name=state]", "accepted")
    page.click("form.filters button.primary")
    page.wait_for_selector("#list")
    browsing.expect("state=accepted" in page.url, "a filter is a link: " + page.url)
    browsing.look(page, "deliveries")
    page.goto(campaign + "/deliveries?variant=none")
    browsing.expect(page.locator(".errors").count() == 1, "a filter that cannot be is told")
    browsing.expected(400)
    with page.expect_download() as download:
        page.goto(campaign)
        page.click("#look a[href$='.csv']")
    browsing.expect(download.value.suggested_filename.endswith(".csv"), "the deliveries as a file")
    page.goto(campaign + "/report")
    browsing.expect(page.locator("nav, form, button").count() == 0, "a report for paper has no controls")
    browsing.look(page, "report")
    page.goto(base + "/campaigns?label=nothing")
    browsing.expect(page.locator("span.error").count() == 1, "a label without a colon is told beside its field")
    browsing.expect(page.locator("input[name=label]").input_value() == "nothing", "what was typed stays")
    browsing.expected(400)
