import Domain
import JSON

/// What is sent in benchmarks.
enum BenchMessage {
  static let text = String(repeating: "A parcel is on its way. ", count: 8)

  /// `timing`: members of the message that tell when.
  static func audience(personal: Bool = false, expression: String? = nil, timing: [JSONMember] = []) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("to")
    writer.beginObject()
    if let expression { writer.member("audience", expression) } else { writer.member("everyone", true) }
    writer.endObject()
    writer.key("notification")
    writer.beginObject()
    if personal {
      writer.member("title", "Hello {{first_name|there}}")
      writer.member("body", text)
      writer.key("localized")
      writer.beginObject()
      for (language, title) in [("de", "Hallo {{first_name|du}}"), ("fr", "Bonjour {{first_name|toi}}")] {
        writer.key(language)
        writer.beginObject()
        writer.member("title", title)
        writer.member("body", text)
        writer.endObject()
      }
      writer.endObject()
    } else {
      writer.member("title", "Benchmark")
      writer.member("body", text)
    }
    writer.endObject()
    for member in timing { writer.member(member.key, member.value) }
    writer.endObject()
    return writer.bytes
  }

  /// To raw APNs tokens: 64 hex digits that begin with `head` and end with the number.
  static func listed(_ tokens: Range<Int>, head: String = "fa") -> [UInt8] {
    var writer = JSONWriter(reserving: tokens.count * 110 + 400)
    writer.beginObject()
    writer.key("to")
    writer.beginObject()
    writer.objects("tokens", tokens) { writer, number in
      writer.member("provider", "apns")
      writer.member("token", token(number, head: head))
    }
    writer.endObject()
    writer.key("notification")
    writer.beginObject()
    writer.member("title", "Benchmark")
    writer.member("body", text)
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  static func token(_ number: Int, head: String) -> String {
    let hex = String(number, radix: 16)
    return head + String(repeating: "0", count: 64 - head.utf8.count - hex.utf8.count) + hex
  }
}
