/// Made-up tokens, each its own.
enum Tokens {
  static func apns(_ number: Int) -> String { hex(number, digits: 64) }
  static func fcm(_ number: Int) -> String { "fcm-\(number):APA91b\(hex(number, digits: 24))" }
  static func oneSignal(_ number: Int) -> String {
    "1dd608f2-c6a1-41e3-851d-\(hex(number, digits: 12))"
  }

  /// `{"provider":…,"token":…}` entries for `to.tokens`.
  static func targets(_ provider: String, _ tokens: [String]) -> String {
    tokens.map { #"{"provider":"\#(provider)","token":"\#($0)"}"# }.joined(separator: ",")
  }

  private static func hex(_ number: Int, digits: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: digits - text.count) + text
  }
}
