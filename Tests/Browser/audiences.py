"""The view Audiences: named audiences, tags, and the import of devices.

`run(browsing, page, known)`: `page` is signed in as admin (with the scopes `devices` and `export`); needs no seed data of its own
beyond `known["user"]`, a user with a registered device.
"""

TABLE = "Email;Push token;Segments;Notes\neva@example.com;browser-t1;plan:browse offers;called\nmax@example.com;browser-t2;plan:browse;\nkim@example.com;;offers;no phone\n"


def run(browsing, page, known):
    base = browsing.base + "/console"

    # An expression is counted, and what is wrong with one is shown where it is.
    page.click("nav.rail a[href$='/console/audiences']")
    page.fill("#try-expression", "everyone")
    page.click("#try button.primary")
    page.wait_for_selector("#try .line")
    browsing.expect("expression=everyone" in page.url, "what is tried stands in the address: " + page.url)
    total = page.locator("#try tbody .number").first.inner_text()
    browsing.expect(int(total.replace(",", "").replace(".", "")) > 0, "everyone is somebody: " + total)
    page.goto(base + "/audiences?expression=plan%3Apro%20%26%26%20(")
    browsing.expect("^" in page.locator("#try .notice pre").inner_text(), "a fault is marked at its place")

    # A name: refused, taken, changed, deleted.
    page.goto(base + "/audiences")
    page.fill("#name", "not a name!")
    page.fill("#expression", "plan:browse && (")
    page.click("#new button.primary")
    page.wait_for_selector(".errors")
    browsing.expect(page.input_value("#expression") == "plan:browse && (", "what was typed is kept")
    browsing.expected(422)
    page.fill("#name", "browsers")
    page.fill("#expression", "plan:browse")
    page.click("#new button.primary")
    page.wait_for_selector("#reach .line")
    browsing.expect(page.url.endswith("/audiences/browsers?saved=1"), "a new audience has its page: " + page.url)

    # Devices from a table: upload, mapping, trial, import, refused lines.
    page.goto(base + "/import")
    large = {"name": "large.csv", "mimeType": "text/csv", "buffer": b"token\n" + b"x" * (8 << 20)}
    page.set_input_files("#file", large)
    page.click("main form button.primary")
    page.wait_for_selector("[data-wait-state].error")
    browsing.expect(page.locator("main form button.primary").is_enabled(), "a file that is too large can be changed for another")
    page.set_input_files("#file", {"name": "kunden.csv", "mimeType": "text/csv", "buffer": TABLE.encode()})
    page.click("main form button.primary")
    page.wait_for_selector("#c0")
    page.select_option("#c0", "user")
    page.select_option("#c2", "tags")
    page.select_option("#provider", "fcm")
    browsing.expect(page.input_value("#c1") == "token" and page.input_value("#c3") == "-", "columns are guessed")
    browsing.look(page, "import")
    page.click("button[value=try]")
    page.wait_for_selector("#rejects")
    browsing.expect(page.locator("dl.figures dd").all_inner_texts()[:2] == ["3", "2"], "a trial tells what would happen")
    page.goto(base + "/audiences/browsers")
    browsing.expect(page.locator("#reach tbody .number").first.inner_text() == "0", "a trial registers nothing")
    page.go_back()
    page.click("button[value=import]")
    page.wait_for_function("() => !document.querySelector('button[value=import]') && document.querySelector('#rejects')")
    with page.expect_download() as download:
        page.click("#rejects a.button")
    with open(download.value.path()) as file:
        rejects = file.read()
    browsing.expect(rejects.startswith("line,reason,original\n4,") or "\r\n4," in rejects or "\n4," in rejects, "the refused line: " + rejects)
    browsing.look(page, "imported")
    page.goto(base + "/audiences/browsers")
    browsing.expect(page.locator("#reach tbody .number").first.inner_text() == "2", "an import registers")
    browsing.look(page, "audience")

    # Tags, and a file of them.
    page.goto(base + "/tags?prefix=plan%3Abrowse")
    browsing.expect(page.locator("#list tbody tr").count() == 1, "tags by prefix")
    with page.expect_download() as download:
        page.click("main a[href*='format=csv']")
    browsing.expect(download.value.suggested_filename == "tags.csv", "a file has its name")
    browsing.look(page, "tags")
    page.click("#list tbody th a")
    page.wait_for_selector("#try .line")

    # Deleted by its name alone.
    page.goto(base + "/audiences/browsers")
    page.click("#remove summary")
    page.fill("#confirm", "else")
    page.click("button.danger")
    page.wait_for_selector(".errors")
    page.fill("#confirm", "browsers")
    page.click("button.danger")
    page.wait_for_function("() => location.pathname.endsWith('/console/audiences')")
    browsing.expect(page.locator("a[href$='/audiences/browsers']").count() == 0, "a deleted audience is gone")
