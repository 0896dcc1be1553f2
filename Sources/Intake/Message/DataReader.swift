import Domain
import JSON

/// Reads what an app says in its own words: `data`, `labels` and the name in reports.
enum DataReader {
  private static let maximumLabels = 32

  static func data(_ fields: Fields, _ findings: inout Findings) -> [JSONMember] {
    guard let data = fields.members("data", .payload, &findings) else { return [] }
    var place: Place { fields.place.member("data") }
    for member in data {
      if member.key.isEmpty {
        findings.refuse(place.member(""), .empty, "`data` has an empty key: give it a name")
      } else if member.key == "aps" {
        findings.refuse(
          place.member("aps"), .notAllowed,
          "`aps` is reserved by APNs: use the fields of this API, or `overrides.apns.aps`")
      }
    }
    return data
  }

  static func labels(_ fields: Fields, _ findings: inout Findings) -> [JSONMember] {
    guard let labels = fields.members("labels", .document, &findings) else { return [] }
    checkFlat(labels, at: fields.place.member("labels"), maximum: maximumLabels, longestValue: 256, &findings)
    return labels
  }

  /// The name of a send in the vendors' reports (protocols/fcm.md section 3).
  static func analyticsLabel(_ fields: Fields, _ findings: inout Findings) -> String? {
    guard let label = fields.text("analytics_label", .line(50), &findings) else { return nil }
    guard label.utf8.allSatisfy({ $0.isASCIILetter || $0.isASCIIDigit || "-_.~%".utf8.contains($0) }) else {
      findings.refuse(
        fields.place.member("analytics_label"), .invalidFormat, "may hold only letters, digits and `-_.~%`")
      return nil
    }
    return label
  }

  /// Checks a flat object: names of 1–64 bytes, values strings, numbers or booleans.
  static func checkFlat(
    _ members: [JSONMember], at place: @autoclosure () -> Place, maximum: Int, longestValue: Int,
    _ findings: inout Findings
  ) {
    guard members.count <= maximum else {
      findings.refuse(place(), .tooMany, "has \(members.count) members; the limit is \(maximum)")
      return
    }
    for member in members {
      if let fault = TextRule.line(64).fault(in: member.key) {
        findings.refuse(place().member(member.key), fault.code, "this name \(fault.detail)")
      }
      switch member.value {
      case .string(let text):
        if let fault = TextRule(alphabet: .prose, maximum: longestValue, mayBeEmpty: true).fault(in: text) {
          findings.refuse(place().member(member.key), fault.code, "this value \(fault.detail)")
        }
      case .bool, .integer, .unsigned, .double: break
      case .null, .array, .object:
        findings.refuse(
          place().member(member.key), .wrongType,
          "must be a string, a number or a boolean, not \(member.value.article)")
      }
    }
  }
}
