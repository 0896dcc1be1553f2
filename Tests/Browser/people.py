"""Tags with undo, a token that finds its device, texts that would be HTML. Needs `known["user"]` with a device whose token is
`known["token"]`, of FCM; and a device `known["device"]` with a tag and an attribute of the same name, whose value is
`known["attribute"]`."""


def run(browsing, page, known):
    base = browsing.base + "/console"
    page.goto(base + "/people?q=" + known["user"])
    page.fill("#tag", "from <browser>")
    page.click("#tags form:has(#tag) button")
    page.wait_for_url("**added=*")
    browsing.expect("from <browser>" in page.locator("#tags").inner_text(), "a tag of a user is added, as a text")
    browsing.look(page, "person-tags")
    page.click(".notice button")
    page.wait_for_url("**removed=*")
    browsing.expect("from <browser>" not in page.locator("#tags").inner_text(), "and undone")
    page.click("#devices tbody th a")
    page.wait_for_selector(".timeline")
    device = page.url
    page.fill("#tag", "seen")
    page.click("#tags form:has(#tag) button")
    page.wait_for_url("**added=seen")
    page.click("#tags li:has-text('seen') button")
    page.wait_for_url("**removed=seen")
    browsing.expect("removed=seen" in page.url, "a tag of a device is removed: " + page.url)
    page.click("#confirm-act summary")
    page.fill("#confirm", "another")
    page.click("button.danger")
    page.wait_for_selector(".errors")
    browsing.expect(page.url.startswith(device), "a wrong name deletes nothing")
    if "token" in known:
        page.goto(base + "/people")
        browsing.look(page, "search")
        page.select_option("#provider", "fcm")
        page.fill("#token", known["token"])
        page.click("#by-token button")
        page.wait_for_selector(".timeline")
        browsing.expect(known["token"] not in page.url, "a token is in no address")
    if "device" in known:
        hostile(browsing, page, known["device"], known["attribute"])


def hostile(browsing, page, device, attribute):
    page.goto(browsing.base + "/console")
    page.fill("#search", device)
    page.press("#search", "Enter")
    page.wait_for_selector("#attributes")
    for place, text in (("h1", device), ("#attributes dt", device), ("#attributes dd", attribute)):
        browsing.expect(page.locator(place).first.text_content() == text, f"{place} shows the text: {page.inner_text(place)}")
    tag = page.locator("#tags li").first.text_content()
    browsing.expect(tag.startswith(device), "so does the tag: " + tag)
    browsing.expect(page.locator("b").count() == 0, "no text of a device becomes an element")
    browsing.look(page, "hostile-device")
