import Domain
import JSON

/// What the API says of a message that is being written: whom it would reach, what providers would get, and what is
/// missing.
struct MessageCheckup {
  private(set) var faults: [FieldFault] = []
  private(set) var warnings: [JSONValue] = []
  private(set) var forecast: JSONValue?
  private(set) var platforms: [JSONValue] = []
  private(set) var requests: [JSONValue] = []
  private(set) var isAsked = false

  /// Nothing was asked.
  init() {}

  /// Asks twice at most: for what would be sent, and how the audience is made up.
  init(of form: ComposeForm, _ visitor: Visitor) async {
    isAsked = true
    let (message, own) = form.message(visitor.texts)
    faults = own
    switch await visitor.ask("POST", ["v1", "messages"], query: [("dry_run", "true")], body: message) {
    case .success(let answer):
      forecast = answer["forecast"]
      warnings = answer["warnings"]?.array ?? []
      requests = answer["requests"]?.array ?? []
    case .failure(let problem): faults += form.faults(of: problem)
    }
    guard !form.audience.isEmpty else { return }
    let body = JSONValue.object([
      JSONMember("audience", .string(form.audience)),
      JSONMember("reach", .string(form.reach.isEmpty ? ComposeForm.allDevices : form.reach)),
    ])
    if case .success(let count) = await visitor.ask("POST", ["v1", "audiences", "count"], body: body) {
      platforms = count["by_platform"]?.array ?? []
      if forecast == nil { forecast = count["forecast"] }
    }
  }

  /// Of a draft that is stored.
  init(of draft: JSONValue, count: JSONValue?) {
    isAsked = true
    forecast = count?["forecast"]
    warnings = count?["warnings"]?.array ?? []
    startsAt = count?["starts_at"]?.string ?? count?["starts_at_local"]?.string
  }

  private(set) var startsAt: String?

  var count: Int? { forecast.map { Int(clamping: $0["would_be_sent"]?.integer ?? 0) } }
  var isEstimate: Bool { forecast?["estimated"]?.bool == true }
  /// With words for one, and for many; an estimate says that it is one.
  func amount(_ one: Word, _ many: Word, _ texts: Texts) -> String? {
    guard let count else { return nil }
    return isEstimate ? texts(many, texts(.about, texts.number(count))) : texts.counted(count, one, many)
  }
  /// Those who get it when their quiet hours end.
  private var waiting: Int {
    let rows = (forecast?["waiting"]?.array ?? []).filter { $0["reason"]?.string == "quiet_hours" }
    return rows.reduce(0) { $0 &+ Int(clamping: $1["count"]?.integer ?? 0) }
  }
  private var leftOut: Int {
    (forecast?["excluded"]?.array ?? []).reduce(0) { $0 &+ Int(clamping: $1["count"]?.integer ?? 0) }
  }

  // MARK: Parts of the page, which the script replaces

  /// Not shown: the script puts them beside the fields, each once its field was left.
  func writeFaults(_ texts: Texts, _ html: inout HTML) {
    html.element("section", [.id("checks"), .data(.checked), .flag(.hidden)]) { html in
      html.element("h2", texts[.beforeItCanGo])
      html.element("ul") { html in
        for fault in faults {
          html.element("li", [.data(.field, fault.field)]) { html in
            guard !fault.field.isEmpty else { return html.told(fault.text) }
            html.element("a", [.href(Link(field: fault.field.replacing(".", with: "-")))]) { $0.told(fault.text) }
          }
        }
      }
    }
  }

  func writeReach(_ texts: Texts, _ html: inout HTML) {
    html.element("section", [.id("reach"), .data(.checked), .set(.ariaLabelledBy, "reach-heading")]) { html in
      html.element("h2", [.id("reach-heading")], texts[.reach])
      guard let forecast else {
        return html.element("p", [.class("quiet")], texts[isAsked ? .reachUnknown : .reachNotAsked])
      }
      AudienceReach.line(forecast, texts, &html)
      AudienceReach.table(of: forecast, texts, &html)
      AudienceReach.parts(
        forecast["by_provider"], "provider", texts[.provider], texts[.byProvider], texts, &html)
      AudienceReach.parts(
        .array(platforms), "platform", texts[.platform], texts[.reachByPlatform], texts, &html)
      if waiting > 0 { html.element("p", texts(.waitQuiet, texts.number(waiting))) }
      html.notices(warnings, texts)
    }
  }

  /// One sentence that says exactly what sending will do.
  func writeSentence(_ form: ComposeForm, _ texts: Texts, _ html: inout HTML) {
    html.element("p", [.class("line"), .id("summary"), .data(.checked)]) { html in
      guard let whom = amount(.sentenceToOne, .sentenceTo, texts) else {
        return html.text(texts[isAsked ? .sentenceUnknown : .sentenceNotAsked])
      }
      html.text(form.sentence(whom, startsAt: startsAt, waiting: waiting, leftOut: leftOut, texts))
    }
  }

  func writeButton(_ texts: Texts, _ html: inout HTML) {
    html.element(
      "span", [.id("count"), .data(.checked)], amount(.goOnWithOne, .goOnWith, texts) ?? texts[.goOn])
  }

  func writeRequests(_ texts: Texts, _ html: inout HTML) {
    html.element("section", [.id("requests"), .data(.checked), .set(.ariaLabelledBy, "requests-heading")]) { html in
      html.element("h2", [.id("requests-heading")], texts[.requests])
      guard !requests.isEmpty else { return html.element("p", [.class("quiet")], texts[.noRequests]) }
      for (place, request) in requests.prefix(24).enumerated() {
        html.element("details", [.class("request"), .id("request-\(place)"), .flag(.open, place == 0)]) { html in
          self.request(request, place, texts, &html)
        }
      }
    }
  }

  private func request(_ request: JSONValue, _ place: Int, _ texts: Texts, _ html: inout HTML) {
    let provider = request["provider"]?.string ?? ""
    html.element("summary") { html in
      html.element("strong", provider)
      let kinds = [request["credential"]?.string, request["token_kind"]?.string, request["variant"]?.string]
      html.text(" " + kinds.compactMap { $0 }.joined(separator: " · "))
    }
    let bytes = Int(clamping: request["bytes"]?.integer ?? 0)
    if let left = request["bytes_left"]?.integer.map({ Int(clamping: $0) }) {
      let room = "room-\(place)"
      html.element("p", [.class("small"), .id(room)], texts(.bytesLeft, texts.number(bytes), texts.number(left)))
      let limit = max(1, bytes &+ max(0, left))
      html.element(
        "meter",
        [
          .set(.ariaLabelledBy, room), .set(.min, "0"), .set(.max, String(limit)), .set(.low, String(limit / 5 * 4)),
          .set(.high, String(limit - 1)), .set(.optimum, "0"), .set(.value, String(bytes)),
        ], "")
    }
    html.element("dl", [.class("facts")]) { html in
      html.fact(request["method"]?.string ?? "", request["url"]?.string)
      for header in (request["headers"]?.object ?? []).prefix(40) { html.fact(header.key, header.value.string) }
    }
    let label = texts(.contentOf, provider)
    html.element("pre", [.set(.tabIndex, "0"), .set(.role, "group"), .set(.ariaLabel, label)]) { html in
      html.element("code", PrettyJSON.text(request["body"] ?? .null))
    }
  }
}

extension HTML {
  /// What is to be known of a message, in the API's words.
  mutating func notices(_ warnings: [JSONValue], _ texts: Texts) {
    for warning in warnings.prefix(40) {
      element("p", [.class("warning")]) { html in
        html.element("span", [.class("state"), .data(.state, "blocked")], texts[.warning])
        html.text(" ")
        html.told(warning["detail"]?.string ?? "")
      }
    }
  }
}

extension ComposeForm {
  /// Whom, when and how fast, in words.
  /// `startsAt`: as the gateway says, where it is not now.
  func sentence(
    _ whom: String, startsAt: String? = nil, waiting: Int = 0, leftOut: Int, _ texts: Texts
  ) -> String {
    var parts = [whom]
    if words.count > 1 { parts[0] += " " + texts(.sentenceLanguages, texts.number(words.count)) }
    let clock = at.replacing("T", with: " ")
    switch time {
    case .now:
      parts.append(startsAt.map { texts(.sentenceAt, $0.replacing("T", with: " "), "UTC") } ?? texts[.sentenceNow])
    case .at: parts.append(texts(.sentenceAt, clock, "UTC" + (offset == "+00:00" ? "" : offset)))
    case .atLocal: parts.append(texts(.sentenceLocal, clock))
    }
    if let rate = Whole.read(perSecond, in: 1...Int(Int32.max)) {
      parts.append(texts(.sentenceRate, texts.number(rate)))
    }
    var whole = parts.joined(separator: ", ")
    if waiting > 0 { whole += "; " + texts(.sentenceWaiting, texts.number(waiting)) }
    return leftOut > 0
      ? whole + "; " + texts.counted(leftOut, .sentenceLeftOutOne, .sentenceLeftOut) + "." : whole + "."
  }

  /// What the API finds wrong, each with the field that it is about.
  func faults(of problem: ToldProblem) -> [FieldFault] {
    let violations = problem.document?["violations"]?.array ?? []
    return violations.isEmpty ? [FieldFault(field: "", text: problem.detail)] : faults(of: violations)
  }

  func faults(of violations: [JSONValue]) -> [FieldFault] {
    violations.prefix(60).map { violation in
      FieldFault(
        field: field(at: violation["pointer"]?.string ?? ""),
        text: violation["detail"]?.string ?? violation["code"]?.string ?? "")
    }
  }

  /// The field that shows what stands at a place of the message, or of the draft around it.
  func field(at pointer: String) -> String {
    var way = pointer.split(separator: "/").map(String.init)
    if way.first == "message" { way.removeFirst() }
    let number = way.count > 1 ? Whole.read(way[1], in: 0...ComposeForm.mostVariants) : nil
    switch (way.first, way.dropFirst().first) {
    case ("name", _): return "name"
    case ("kind", _): return "kind"
    case ("data", _): return "data"
    case ("to", _): return "audience"
    case ("reach", _): return "devices"
    case ("holdout", _): return "holdout"
    case ("send_at", _), ("send_at_local", _): return "at"
    case ("rate_per_second", _): return "per_second"
    case ("ttl", _): return "ttl"
    case ("collapse_key", _): return "collapse_key"
    case ("topic", _): return "topic"
    case ("cap", "max"?): return "cap_max"
    case ("cap", _): return "topic"
    case ("quiet_hours", "from"?): return "quiet_from"
    case ("quiet_hours", "to"?): return "quiet_to"
    case ("quiet_hours", _): return "quiet"
    case ("variants", _):
      guard let number, variants.indices.contains(number) else { return "variant.0.name" }
      let part = way.last ?? ""
      return "variant.\(number)." + (part == "weight" ? "share" : ["title", "body"].contains(part) ? part : "name")
    case ("notification", let part?): return field(of: part, way)
    case ("notification", nil): return "title.0"
    default: return rest.isEmpty ? "" : "json"
    }
  }

  private func field(of part: String, _ way: [String]) -> String {
    switch part {
    case "title", "subtitle", "body": return part + ".0"
    case "image", "link", "sound", "badge": return part
    case "buttons":
      guard way.count > 2, let number = Whole.read(way[2], in: 0...Self.mostButtons - 1) else {
        return "button.0.title"
      }
      return "button.\(number)." + (way.last == "url" ? "link" : "title")
    case "localized":
      guard way.count > 2, let place = words.firstIndex(where: { $0.language == way[2] }), place > 0 else {
        return rest.isEmpty ? "" : "json"
      }
      let last = way.last ?? ""
      return (["title", "subtitle", "body"].contains(last) ? last : "lang") + ".\(place)"
    default: return rest.isEmpty ? "" : "json"
    }
  }
}
