import CommandFrame
import Configuration
import Domain
import Intake
import Loop
import Store

/// What the options of `fanfare keys` say of a key.
enum KeyOptions {
  /// What is not given stays as it is.
  static func edit(_ arguments: Arguments) throws(UsageProblem) -> KeyEdit {
    var edit = KeyEdit()
    if let name = arguments.text("--name") {
      guard name.utf8.count <= KeyReader.longestName, !name.contains(where: \.isNewline) else {
        throw UsageProblem(text: "--name is one line of at most \(KeyReader.longestName) bytes")
      }
      edit.name = name
    }
    if let list = arguments.text("--scopes") { edit.scopes = try scopes(list) }
    if let text = arguments.text("--expires") { edit.expiresAt = .some(try end(text)) }
    let texts = arguments.texts("--address")
    if !texts.isEmpty { edit.addresses = texts == ["any"] ? [] : try addresses(texts) }
    return edit
  }

  /// Milliseconds.
  static func keep(_ arguments: Arguments) throws(UsageProblem) -> Int64 {
    guard let text = arguments.text("--keep") else { return APIKey.usualKeep }
    let longest = KeyReader.keep.upperBound * 1_000
    guard let keep = text == "0" ? 0 : Units.duration(text), keep <= longest else {
      throw UsageProblem(text: "--keep \(text) is not a duration of at most 30d, such as 12h, 7d or 0s")
    }
    return keep
  }

  static func scopes(_ text: String) throws(UsageProblem) -> Set<Scope> {
    var scopes: Set<Scope> = []
    for word in text.split(separator: ",") {
      guard let scope = Scope(rawValue: String(word)) else {
        let known = Scope.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageProblem(text: "\"\(word)\" is not a scope; the scopes are \(known)")
      }
      scopes.insert(scope)
    }
    guard !scopes.isEmpty else { throw UsageProblem(text: "--scopes is empty") }
    return scopes
  }

  private static func end(_ text: String) throws(UsageProblem) -> WallTime? {
    if text == "never" { return nil }
    let now = EventLoop.wallClockNow
    let time = Units.duration(text).map { now + $0 } ?? WallTime(rfc3339: text)
    guard let time, time > now else {
      throw UsageProblem(
        text: "--expires \(text) is not a future time, such as 90d or 2026-12-01T09:00:00Z, and not never")
    }
    return time
  }

  private static func addresses(_ texts: [String]) throws(UsageProblem) -> [AddressRange] {
    var ranges: [AddressRange] = []
    for text in texts {
      guard let range = AddressRange(text) else {
        throw UsageProblem(
          text: "--address \(text) is not an address or a network, such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32")
      }
      if !ranges.contains(range) { ranges.append(range) }
    }
    guard ranges.count <= KeyReader.mostAddresses else {
      throw UsageProblem(text: "a key has at most \(KeyReader.mostAddresses) addresses")
    }
    return ranges
  }
}
