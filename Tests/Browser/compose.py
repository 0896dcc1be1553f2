"""Writing a message, trying it, sending it; authors, two people, two tabs, an ended session."""


def write(browsing, page, name, title, audience):
    page.goto(browsing.base + "/console/compose")
    page.fill("#name", name)
    page.fill("#title-0", title)
    page.fill("#body-0", "Everything costs less until Sunday.")
    page.fill("#audience", audience)


def run(browsing, page, known):
    base, expect = browsing.base, browsing.expect

    # A list to try messages on.
    page.goto(base + "/console/test-lists")
    page.fill("#name", "team")
    page.fill("#devices", "device0\ndevice1")
    page.click("main form button.primary")
    page.wait_for_selector("#lists tbody tr")

    # The audience by blocks, a text in another language, and what becomes of it while one types.
    hostile = "<b>Sale</b> \u202e 🎉"
    write(browsing, page, "Spring sale", "Spring sale: 30 % off everything", "")
    page.click("[data-add=block]")
    page.fill("[data-builder] li [data-value]", "all")
    expect(page.input_value("#audience") == "all", "blocks write the expression: " + page.input_value("#audience"))
    page.click("[data-add-to=texts]")
    page.fill("#lang-1", "de")
    page.fill("#title-1", "Frühlingsverkauf")
    page.wait_for_function("() => document.querySelector('#count').innerText.includes('4')")
    expect("4 devices" in page.inner_text("#summary"), "the sentence counts: " + page.inner_text("#summary"))
    expect(page.locator("#requests .request").count() >= 1, "what the provider gets is shown")
    page.fill("#per_second", "fast")
    page.locator("#per_second").blur()
    page.wait_for_selector("#per_second-error")
    page.fill("#per_second", "")
    page.wait_for_selector("#per_second-error", state="detached")
    # The answer to what was written last, and no note any more of a German body that is missing.
    with page.expect_response(lambda answer: "/compose/check" in answer.url and "Bis+Sonntag" in (answer.request.post_data or "")):
        page.fill("#body-1", "Bis Sonntag kostet alles weniger.")
    page.wait_for_function(
        "() => document.querySelector('[data-check-state]').textContent === ''"
        " && !document.querySelector('#reach').textContent.includes('localized.de.body')")
    browsing.look(page, "compose")
    page.fill("#title-0", hostile)
    expect(hostile in page.inner_text("#preview .ios .note"), "the preview shows the text as it is")

    # Kept, tried, and sent behind a page that says what will happen.
    page.click("button[value=save]")
    page.wait_for_selector(".notice[data-state=done]")
    draft = page.url.split("?")[0]
    page.select_option("#test_list", "team")
    page.click("button[value=test]")
    page.wait_for_selector(".notice a[href*='/campaigns/']")
    page.click("button[value=continue]")
    page.wait_for_url(draft + "/send")
    expect("4 devices" in page.inner_text("#what .line"), page.inner_text("#what"))
    browsing.look(page, "send")
    send = page.locator(f"form[action$='{draft[len(base):]}/send']")
    form = {name: send.locator(f"input[name={name}]").get_attribute("value") for name in ("form", "version")}
    page.click("#what button.primary")
    page.wait_for_selector("#progress")
    sent = page.url.split("?")[0]
    # "4 not sent yet" would not do.
    page.wait_for_function(
        "() => [...document.querySelectorAll('#funnel tbody tr')].some((row) => row.querySelector('th').textContent.includes('taken')"
        " && row.querySelector('td.number').textContent.trim() === '4')")

    # Going back sends nothing: it leads to what was sent. Neither does the form, sent once more.
    page.go_back()
    page.goto(draft + "/send")
    expect(page.url.split("?")[0] == sent, f"a sent draft leads to its message: {page.url}")
    again = page.context.request.post(
        draft + "/send", form=form, headers={"sec-fetch-site": "same-origin"}, max_redirects=0)
    expect(again.status == 303, f"the form, sent once more: {again.status}")
    expect(base + again.headers["location"] == sent, f"it leads to the same message: {again.headers['location']}")
    page.goto(base + "/console/campaigns?name=Spring%20sale")
    # The trial has the name too, with more words beside it.
    names = page.locator("#list tbody th a").all_inner_texts()
    expect(names.count("Spring sale") == 1, f"it was sent once: {names}")

    # Two tabs: who saves second learns of it, and keeps their text.
    write(browsing, page, "Two tabs", "First", "all")
    page.click("button[value=save]")
    page.wait_for_selector(".notice[data-state=done]")
    other = page.context.new_page()
    other.goto(page.url)
    page.fill("#title-0", "Mine")
    page.click("button[value=save]")
    page.wait_for_selector(".notice[data-state=done]")
    other.fill("#title-0", "Theirs")
    other.click("button[value=save]")
    other.wait_for_selector(".errors")
    expect(other.input_value("#title-0") == "Theirs", "what was written stays")
    other.close()

    # A missing field is told, and nothing is lost.
    page.goto(base + "/console/compose")
    page.fill("#title-0", "Without an audience")
    page.click("button[value=continue]")
    page.wait_for_selector(".errors")
    expect(page.input_value("#title-0") == "Without an audience", "the text is still there")


def roles(browsing, browser, page, known):
    base, expect = browsing.base, browsing.expect

    # More devices than one person may send to: another one approves, and then it goes.
    write(browsing, page, "For many", "Hello", "slow || all")
    page.click("button[value=continue]")
    page.wait_for_selector("#what")
    expect(page.locator("#what button.primary").count() == 0, "one person cannot send to so many")
    address = page.url
    context, second = browsing.context(browser)
    browsing.sign_in(second, known["sender"], address[len(base + "/console"):])
    second.wait_for_selector("form[action$='/approve'] button")
    second.click("form[action$='/approve'] button")
    second.wait_for_selector("#what .state[data-state=done]")
    context.close()
    page.reload()
    page.click("#what button.primary")
    page.wait_for_selector("#progress")

    # An author writes and does not send, neither by a button nor without one.
    context, author = browsing.context(browser)
    browsing.sign_in(author, known["author"])
    author.wait_for_selector("nav.rail")
    write(browsing, author, "By an author", "Hello", "all")
    author.wait_for_function("() => document.querySelector('#count').innerText.includes('4')")
    author.click("button[value=continue]")
    author.wait_for_selector("#what")
    expect(author.locator("#what form").count() == 0, "an author has no button to send")
    form = author.locator("input[name=form]").first.get_attribute("value")
    forged = context.request.post(
        author.url, form={"form": form, "version": "1"}, headers={"sec-fetch-site": "same-origin"}, max_redirects=0)
    expect(forged.status == 403, f"an author sends: {forged.status}")

    # A session that ends while one writes: the text comes back behind the sign-in.
    write(browsing, author, "Long work", "Do not lose me", "all")
    context.clear_cookies()
    author.click("button[value=save]")
    author.wait_for_selector("#key")
    author.fill("#key", known["author"])
    author.click("main button")
    author.wait_for_selector("#compose")
    expect(author.input_value("#title-0") == "Do not lose me", "what was written before the session ended")
    author.click("button[value=save]")
    author.wait_for_selector(".notice[data-state=done]")
    browsing.expected(401)
    context.close()
