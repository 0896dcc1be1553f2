import Domain

/// Tokens that wait to be removed, until somebody decides.
struct PrunePanel {
  let visitor: Visitor

  func write(_ answer: Result<JSONValue, ToldProblem>, _ html: inout HTML) {
    let texts = visitor.texts
    html.section("prunes", texts[.prunes]) { html in
      guard let all = html.items(of: answer) else { return }
      let prunes = all.map(HeldPrunes.init).filter { $0.held > 0 }
      guard !prunes.isEmpty else { return html.element("p", [.class("empty")], texts[.prunesNone]) }
      html.element("p", texts[.prunesLead])
      for (place, brake) in prunes.prefix(HeldPrunes.most).enumerated() {
        html.element("h3", brake.credential)
        brake.write(to: &html, texts, id: "prunes-\(place)")
        acts(brake, &html)
      }
    }
  }

  private func acts(_ brake: HeldPrunes, _ html: inout HTML) {
    let texts = visitor.texts
    Frame.form(visitor, Link("prunes", "discard"), &html) { html in
      html.hidden("credential", brake.credential)
      html.element("p", [.class("actions")]) { $0.element("button", texts[.discardPrunes]) }
    }
    html.element("details", [.class("act")]) { html in
      html.element("summary", texts(.prunesApplyNumber, texts.number(brake.held)))
      Frame.form(visitor, Link("prunes", "apply"), &html) { html in
        html.element("p", texts[.prunesApplyLead])
        html.hidden("credential", brake.credential)
        html.element("p", [.class("actions")]) { $0.element("button", [.class("danger")], texts[.applyPrunes]) }
      }
    }
  }

  /// What the address says was done, and a button that undoes it.
  func done(_ html: inout HTML) {
    let texts = visitor.texts
    if let number = Whole.read(visitor.visit.query("revived"), in: 0...Int.max) {
      html.element("p", [.class("notice"), .data(.state, "done"), .set(.role, "status")]) { html in
        html.text(texts(.prunesUndone, texts.number(number)))
      }
    }
    guard let removed = RemovedPrunes(visitor.visit.query) else { return }
    html.element("div", [.class("notice"), .data(.state, "done"), .set(.role, "status")]) { html in
      html.element("p", texts(.prunesApplied, texts.number(removed.count), removed.credential))
      guard removed.count > 0 else { return }
      Frame.form(visitor, Link("prunes", "undo"), &html) { html in
        for (name, value) in removed.undo { html.hidden(name, value) }
        html.element("p", [.class("actions")]) { $0.element("button", texts[.prunesUndo]) }
      }
    }
  }
}

/// What a credential's brake holds, as `GET /v1/prunes` tells of it.
struct HeldPrunes {
  /// Credentials, reasons and samples that a page shows.
  static let most = 100

  var credential: String
  var held: Int
  var reasons: [(reason: String, count: Int)]
  var samples: [JSONValue]
  /// Answers that told whether a token lives, how many said dead, and which share is normal; nil: the brake is off.
  var seen: (answers: Int, dead: Int, normal: Double, limit: Double)?

  init(_ value: JSONValue) {
    func number(_ value: JSONValue?) -> Int { max(0, Int(clamping: value?.integer ?? 0)) }
    credential = value["credential"]?.string ?? ""
    held = number(value["held"])
    reasons = (value["reasons"]?.array ?? []).prefix(Self.most).map {
      ($0["reason"]?.string ?? "", number($0["count"]))
    }
    samples = Array((value["samples"]?.array ?? []).prefix(Self.most))
    guard let brake = value["brake"], number(brake["seen"]) > 0 else { return }
    seen = (
      number(brake["seen"]), number(brake["dead"]), Self.share(brake["normal_share"]),
      Self.share(brake["normal_share_limit"])
    )
  }

  /// From 0 to 1, whatever was told.
  static func share(_ value: JSONValue?) -> Double {
    switch value {
    case .double(let share) where share.isFinite: min(1, max(0, share))
    case .integer(let share): share > 0 ? 1 : 0
    default: 0
    }
  }

  /// `id`: of the headings of its tables.
  func write(to html: inout HTML, _ texts: Texts, id: String) {
    func percent(_ share: Double) -> String { texts.percent(Int((share * 1_000_000).rounded()), of: 1_000_000) }
    html.element("p", texts[.held] + ": " + texts.number(held))
    if let seen {
      html.element(
        "p",
        texts(
          .prunesShare, texts.number(min(seen.dead, seen.answers)), texts.number(seen.answers),
          texts.percent(min(seen.dead, seen.answers), of: seen.answers)) + " "
          + texts(.prunesNormal, percent(seen.normal), percent(seen.limit)))
    }
    if !reasons.isEmpty {
      html.element("h4", [.id(id + "-reasons")], texts[.reason])
      html.table(labelledBy: id + "-reasons", [(texts[.reason], false), (texts[.count], true)]) { html in
        for (reason, count) in reasons {
          html.element("tr") { html in
            html.element("th", [.set(.scope, "row")]) { $0.reason(reason, texts) }
            html.number(texts.number(count))
          }
        }
      }
    }
    guard !samples.isEmpty else { return }
    html.element("h4", [.id(id + "-samples")], texts[.prunesSamples])
    html.table(
      labelledBy: id + "-samples", [(texts[.device], false), (texts[.reason], false), (texts[.when], false)]
    ) { html in
      for sample in samples {
        let device = sample["device"]?.string ?? ""
        html.element("tr") { html in
          html.element("th", [.set(.scope, "row")]) { $0.element("a", [.href(Link("devices", device))], device) }
          html.element("td") { $0.element("q", [.class("answer")], sample["reason"]?.string ?? "") }
          html.element("td") { $0.time(sample["dead_at"]?.string) }
        }
      }
    }
  }
}

extension HTML {
  /// What a reason means where that is known, and the provider's own word.
  fileprivate mutating func reason(_ reason: String, _ texts: Texts) {
    if let known = ReasonTexts.of(reason) { text(texts[known.word] + " ") }
    element("q", [.class("answer")], reason)
  }
}

/// Prunes that were carried out, as the address of the page behind it tells of them: enough to undo these and no older
/// ones.
struct RemovedPrunes: Equatable {
  var credential: String
  var count: Int
  /// When the provider had called the first of them dead: what is carried out bears that time.
  var from: String
  /// When they were carried out.
  var to: String

  init(credential: String, count: Int, from: String, to: String) {
    (self.credential, self.count, self.from, self.to) = (credential, count, from, to)
  }

  /// Nil: the address tells of none, or of no times.
  init?(_ query: (String) -> String) {
    self.init(
      credential: query("pruned"), count: Whole.read(query("count"), in: 0...Int.max) ?? 0, from: query("from"),
      to: query("to"))
    guard !credential.isEmpty, credential.utf8.count <= 300 else { return nil }
    guard count == 0 || Self.isSpan(from, to) else { return nil }
  }

  static func isSpan(_ from: String, _ to: String) -> Bool {
    guard let from = WallTime(rfc3339: from), let to = WallTime(rfc3339: to) else { return false }
    return from <= to
  }

  /// Of the address.
  var query: [(name: String, value: String)] {
    [("pruned", credential), ("count", String(count)), ("from", from), ("to", to)]
  }
  /// What `POST /v1/prunes/undo` is asked.
  var undo: [(name: String, value: String)] { [("credential", credential), ("from", from), ("to", to)] }
}
