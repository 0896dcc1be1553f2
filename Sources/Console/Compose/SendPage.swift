import Domain
import HTTPServer
import JSON
import Store

/// What will be sent, said once more in words, before anybody gets it.
struct SendPage: PageSet {
  let console: Console
  let visitor: Visitor

  /// `refused`: what was asked for and not done.
  func page(_ id: String, refused: ToldProblem? = nil) async -> HTTPServerResponse {
    let document: JSONValue
    switch await visitor.get("v1", "drafts", id) {
    case .failure(let problem): return sent(problem) ?? console.refusal(problem, visitor, section: .compose)
    case .success(let found): document = found
    }
    let form = ComposeForm(draft: document)
    var check = MessageCheckup()
    var count: JSONValue?
    var faults = refused.map { form.faults(of: $0) } ?? []
    switch await visitor.ask("POST", ["v1", "drafts", id, "count"]) {
    case .failure(let problem): faults += form.faults(of: problem)
    case .success(let answer):
      count = answer
      check = MessageCheckup(of: document, count: answer)
    }
    let name = form.name.isEmpty ? texts[.untitled] : form.name
    return Frame.page(visitor, title: texts(.sendQuestion, name), section: .compose, status: refused?.status ?? 200) {
      html in
      html.crumbs([(texts[.drafts], Link("drafts")), (name, Link("drafts", id))], texts[.send], texts)
      html.element("h1", texts(.sendQuestion, name))
      FormFields(texts).summary(faults.map { FieldFault(field: "", text: $0.text) }, &html)
      html.section("what", texts[.whatWillHappen]) { html in
        check.writeSentence(form, texts, &html)
        html.element("p", [.class("quiet")], texts[.cannotCallBack])
        decide(document, form, check, count, &html)
      }
      html.element("div", [.class("columns")]) { html in
        html.element("div") { html in
          message(document, form, &html)
          audience(form, &html)
        }
        html.element("div") { check.writeReach(texts, &$0) }
      }
    }
  }

  private func decide(
    _ draft: JSONValue, _ form: ComposeForm, _ check: MessageCheckup, _ count: JSONValue?,
    _ html: inout HTML
  ) {
    let id = form.draft
    let approval = count?["approval"]
    let needsApproval = approval?["is_needed"]?.bool == true
    if needsApproval {
      let above = texts.number(Int(clamping: approval?["above"]?.integer ?? 0))
      html.element("p", [.class("notice"), .data(.state, "paused")], texts(.needsApproval, above))
    }
    if let approver = draft["approved_by"]?.string {
      html.element("p") { html in
        html.element("span", [.class("state"), .data(.state, "done")], texts(.approvedBy, approver))
        html.text(" ")
        html.time(draft["approved_at"]?.string)
      }
    }
    guard visitor.may(.send) else { return html.element("p", [.class("notice")], texts[.onlySender]) }
    html.element("div", [.class("actions")]) { html in
      if let number = check.count, number > 0, !needsApproval {
        act("send", form, &html) { html in
          let isNow = form.time == .now && check.startsAt == nil
          let words: (one: Word, many: Word) = isNow ? (.sendToOne, .sendTo) : (.scheduleToOne, .scheduleTo)
          html.element("button", [.class("primary")], check.amount(words.one, words.many, texts) ?? "")
        }
      }
      if approval != nil, draft["approved_by"] == nil, draft["edited_by"]?.string != visitor.key.id {
        act("approve", form, &html) { $0.element("button", texts[.approve]) }
      }
      html.element("a", [.class("button"), .href(Link("drafts", id))], texts[.backToDraft])
    }
  }

  private func act(
    _ act: String, _ form: ComposeForm, _ html: inout HTML, _ button: (inout HTML) -> Void
  ) {
    Frame.form(visitor, Link("drafts", form.draft, act), &html) { html in
      html.void("input", [.set(.type, "hidden"), .set(.name, "version"), .set(.value, form.version)])
      button(&html)
    }
  }

  /// All that is sent, so that nobody approves what they have not seen.
  private func message(_ draft: JSONValue, _ form: ComposeForm, _ html: inout HTML) {
    html.section("message", texts[.theMessage]) { html in
      html.element("dl", [.class("facts")]) { html in
        html.fact(texts[.kind], texts.word(KindWords.all, form.kind))
        for words in form.words where !words.isEmpty {
          html.fact(words.language.isEmpty ? texts[.everybodysWords] : words.language) { html in
            text(words.title, words.subtitle, words.body, &html)
          }
        }
        for variant in form.variants {
          html.fact("\(variant.name) · \(variant.share) %") { html in text(variant.title, "", variant.body, &html) }
        }
        html.fact(texts[.holdout], form.holdout)
        html.fact(texts[.tapOpens], form.link)
        html.fact(texts[.picture], form.image)
        for (place, button) in form.buttons.enumerated() {
          html.fact(texts(.buttonTitle, String(place + 1)), [button.title, button.link].joined(separator: " · "))
        }
        html.fact(texts[.sound], form.sound)
        html.fact(texts[.badge], form.badge)
        html.fact(texts[.collapseKey], form.collapseKey)
      }
      html.element("details", [.id("whole")]) { html in
        html.element("summary", texts[.wholeMessage])
        html.element("pre", [.set(.tabIndex, "0"), .set(.role, "group"), .set(.ariaLabel, texts[.wholeMessage])]) {
          $0.element("code", PrettyJSON.text(draft["message"] ?? .null))
        }
      }
    }
  }

  private func text(_ title: String, _ subtitle: String, _ body: String, _ html: inout HTML) {
    for (part, isTitle) in [(title, true), (subtitle, false), (body, false)] where !part.isEmpty {
      html.element("div", [.set(.dir, "auto")]) { html in
        if isTitle { html.element("strong", part) } else { html.text(part) }
      }
    }
  }

  private func audience(_ form: ComposeForm, _ html: inout HTML) {
    html.section("who", texts[.whoGetsIt]) { html in
      html.element("dl", [.class("facts")]) { html in
        if !form.audience.isEmpty { html.fact(texts[.audience]) { $0.element("code", form.audience) } }
        html.fact(
          texts[.devicesOfUser], texts[form.reach == ComposeForm.allDevices ? .allDevices : .latestDevice])
        html.fact(texts[.ratePerSecond], form.perSecond.isEmpty ? texts[.asFastAsItGoes] : form.perSecond)
        html.fact(
          texts[.giveUpAfter],
          Whole.read(form.ttl, in: 0...Int(Int32.max)).map { texts.duration(milliseconds: $0 * 1_000) } ?? "")
        switch form.quiet {
        case .app: html.fact(texts[.quietHours], texts[.quietOfApp])
        case .none: html.fact(texts[.quietHours], texts[.quietNone])
        case .own:
          let action = texts[form.quietElse == "skip" ? .quietSkip : .quietHold]
          html.fact(texts[.quietHours], "\(form.quietFrom)–\(form.quietTo) · \(action)")
        }
        if form.isCapped {
          let period = texts[form.capPeriod == "week" ? .oneWeekEach : .oneDayEach]
          html.fact(texts[.topic], form.topic)
          html.fact(texts[.capMaximum], "\(form.capMaximum) · \(texts[.capPeriod]) \(period)")
        }
      }
    }
  }

  /// A draft that was sent leads to its message; nil: it is something else.
  func sent(_ problem: ToldProblem) -> HTTPServerResponse? {
    guard problem.code == "draft_sent",
      let id = problem.detail.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" }).first(where: {
        $0.hasPrefix("msg_")
      })
    else { return nil }
    return console.redirect(Link("campaigns", String(id)))
  }
}
