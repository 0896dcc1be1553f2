import Domain
import HTTPServer

/// A message as the composer shows it: every field a text, as it was typed. What the composer has no field for is kept as JSON.
struct ComposeForm: Hashable {
  struct Words: Hashable {
    /// Empty: of everybody who has no words of their own language.
    var language = ""
    var title = ""
    var subtitle = ""
    var body = ""
    var isEmpty: Bool { language.isEmpty && title.isEmpty && subtitle.isEmpty && body.isEmpty }
  }
  struct Button: Hashable {
    var id = ""
    var title = ""
    var link = ""
    var isEmpty: Bool { title.isEmpty && link.isEmpty }
  }
  struct Variant: Hashable {
    var name = ""
    /// In percent.
    var share = ""
    var title = ""
    var body = ""
    var isEmpty: Bool { name.isEmpty && share.isEmpty && title.isEmpty && body.isEmpty }
  }
  enum Time: String, CaseIterable {
    case now, at
    case atLocal = "at_local"
  }
  enum Quiet: String, CaseIterable { case app, own, none }

  var name = ""
  var kind = "alert"
  /// The first is everybody's.
  var words = [Words()]
  var image = ""
  var link = ""
  var buttons: [Button] = []
  var data = ""
  var variants: [Variant] = []
  /// In percent.
  var holdout = ""
  var audience = ""
  var reach = ComposeForm.allDevices
  var time = Time.now
  /// As a browser writes a date and a time: `2026-12-01T09:00`.
  var at = ""
  /// Of `at`, from UTC: `+01:00`.
  var offset = "+00:00"
  var perSecond = ""
  var ttl = ""
  var quiet = Quiet.app
  var quietFrom = ""
  var quietTo = ""
  var quietElse = "hold"
  var isCapped = false
  var topic = ""
  var capMaximum = ""
  var capPeriod = "day"
  var sound = ""
  var badge = ""
  var collapseKey = ""
  /// All other fields of the message, as a JSON object; empty: there are none.
  var rest = ""
  /// The draft that it is kept as, and the version that was read; empty: it is not kept yet.
  var draft = ""
  var version = ""

  static let allDevices = "all_devices"
  static let mostWords = 40
  static let mostButtons = 3
  static let mostVariants = 16

  init() {}

  /// As a browser sent it. What is missing is empty; more than the bounds of the form is left out.
  init(_ visit: Visit) {
    func field(_ name: String) -> String { visit.field(name) }
    func lines(_ name: String) -> String { field(name).replacing("\r\n", with: "\n") }
    name = field("name")
    kind = field("kind")
    words = (0..<Self.mostWords).map { place in
      Words(
        language: place == 0 ? "" : field("lang.\(place)").trimmed, title: field("title.\(place)"),
        subtitle: field("subtitle.\(place)"), body: lines("body.\(place)"))
    }
    words = [words[0]] + words.dropFirst().filter { !$0.isEmpty }
    (image, link) = (field("image").trimmed, field("link").trimmed)
    buttons = (0..<Self.mostButtons).map { place in
      Button(
        id: field("button.\(place).id"), title: field("button.\(place).title"),
        link: field("button.\(place).link").trimmed)
    }.filter { !$0.isEmpty }
    data = lines("data")
    variants = (0..<Self.mostVariants).map { place in
      Variant(
        name: field("variant.\(place).name").trimmed, share: field("variant.\(place).share").trimmed,
        title: field("variant.\(place).title"), body: lines("variant.\(place).body"))
    }.filter { !$0.isEmpty }
    holdout = field("holdout").trimmed
    audience = lines("audience").trimmed
    reach = field("devices")
    time = Time(rawValue: field("time")) ?? .now
    (at, offset) = (field("at"), field("offset"))
    (perSecond, ttl) = (field("per_second").trimmed, field("ttl"))
    quiet = Quiet(rawValue: field("quiet")) ?? .app
    (quietFrom, quietTo, quietElse) = (field("quiet_from"), field("quiet_to"), field("quiet_else"))
    isCapped = !field("capped").isEmpty
    (topic, capMaximum, capPeriod) = (field("topic").trimmed, field("cap_max").trimmed, field("cap_per"))
    (sound, badge, collapseKey) = (field("sound").trimmed, field("badge").trimmed, field("collapse_key").trimmed)
    rest = lines("json")
    (draft, version) = (field("draft"), field("version"))
  }
}

extension String {
  /// Without spaces and line ends around it.
  var trimmed: String {
    var text = self[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}

/// What is wrong with a field of the composer, by the field's name; an empty name: with none that it has.
struct FieldFault: Hashable {
  var field: String
  var text: String
}
