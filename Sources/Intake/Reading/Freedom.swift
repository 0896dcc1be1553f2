import Domain
import JSON

/// How much an app may say in its own words in one place of a request. It is measured before anything is made of it.
package struct Freedom: Sendable {
  /// Of one object.
  package static let members = 1_000
  /// Objects and arrays within each other.
  package static let depth = 16

  /// As JSON without spaces.
  package let bytes: Int

  /// No provider carries more than APNs' 5,120 bytes of a VoIP push.
  package static let payload = Freedom(bytes: 5_120)
  /// OneSignal's own members: texts in many languages, beside 2,048 bytes of data.
  package static let oneSignal = Freedom(bytes: 65_536)
  /// Documents that are read by their own rules afterwards.
  package static let document = Freedom(bytes: .max)
}

/// Headers of a request to APNs that a message may add.
package enum HeaderBounds {
  /// `overrides.apns.headers` of one message.
  package static let count = 32
  /// As HTTP/2 counts them (RFC 9113 section 6.5.2): APNs takes 8,000 bytes in all, of which Fanfare needs a part.
  package static let bytes = 6_000
  static let bytesOfEach = 32
}

extension Freedom {
  /// What is too much, and the steps from the value to it, the last one first.
  private struct Excess {
    enum Step {
      case member(String)
      case element(Int)
    }
    var code: Violation.Code
    var detail: String
    var steps: [Step] = []
  }

  /// False if there is more than anything should be made of; what is wrong is among the findings. A value that only has
  /// too many bytes may still be read.
  func allows(_ value: JSONValue, named name: String, at place: Place, _ findings: inout Findings) -> Bool {
    if let excess = Self.excess(in: value, depthLeft: Self.depth) {
      let place = excess.steps.reversed().reduce(place) { place, step in
        switch step {
        case .member(let key): place.member(key)
        case .element(let index): place.element(index)
        }
      }
      findings.refuse(place, excess.code, excess.detail)
      return false
    }
    guard bytes < .max, Self.mostBytes(of: value) > bytes else { return true }
    let size = value.encoded.count
    if size > bytes {
      findings.refuse(
        place, .tooLong,
        "`\(name)` has \(size) bytes, \(size - bytes) more than any provider accepts; send a reference instead")
    }
    return true
  }

  /// Its JSON has this many bytes at most. Most values are so short that they need not be written to be measured.
  private static func mostBytes(of value: JSONValue) -> Int {
    switch value {
    case .object(let members):
      var most = 2
      // Quotes, colon and comma. A byte of a text takes 6 at most, as \u0000.
      for member in members { most += 4 + 6 * member.key.utf8.count + mostBytes(of: member.value) }
      return most
    case .array(let items):
      var most = 2
      for item in items { most += 1 + mostBytes(of: item) }
      return most
    case .string(let text): return 2 + 6 * text.utf8.count
    // -1.2345678901234567e-308
    case .null, .bool, .integer, .unsigned, .double: return 24
    }
  }

  private static func excess(in value: JSONValue, depthLeft: Int) -> Excess? {
    switch value {
    case .object(let inner):
      guard depthLeft > 0 else { return tooDeep }
      guard inner.count <= members else {
        return Excess(
          code: .tooMany, detail: "has \(inner.count) members; the limit is \(members): send a reference instead")
      }
      for member in inner {
        guard var excess = excess(in: member.value, depthLeft: depthLeft - 1) else { continue }
        excess.steps.append(.member(member.key))
        return excess
      }
    case .array(let items):
      guard depthLeft > 0 else { return tooDeep }
      for (index, item) in items.enumerated() {
        guard var excess = excess(in: item, depthLeft: depthLeft - 1) else { continue }
        excess.steps.append(.element(index))
        return excess
      }
    default: break
    }
    return nil
  }

  private static var tooDeep: Excess {
    Excess(code: .tooDeep, detail: "is nested more than \(depth) levels deep: flatten it, or send it as text")
  }
}
