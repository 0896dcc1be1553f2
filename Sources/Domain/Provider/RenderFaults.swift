/// Gathers what is wrong with the parts of a message while it is rendered, so that all of it is told at once.
package struct RenderFaults {
  private static let most = 200
  private var found: [RenderFault] = []
  package init() {}

  /// Faults beyond the first 200 are dropped.
  package mutating func add(_ fault: RenderFault) {
    if found.count < Self.most { found.append(fault) }
  }

  /// Nil: the part has a fault.
  @discardableResult
  package mutating func check<Value>(_ part: () throws(RenderFault) -> Value) -> Value? {
    do throws(RenderFault) {
      return try part()
    } catch {
      add(error)
      return nil
    }
  }

  /// Throws the first fault with the others in it; returns if there is none.
  package func refuse() throws(RenderFault) {
    guard var fault = found.first else { return }
    fault.others = Array(found.dropFirst())
    throw fault
  }
}

/// The refusals that every provider shares.
extension RenderFault {
  /// The code of a payload over the vendor's limit.
  package static let tooLargeCode = "payload_too_large"
  /// The code of a field that this provider cannot do without.
  package static let requiredCode = "required"
  /// The code of a notification that has no text for this provider.
  package static let textRequiredCode = "text_required"

  /// It and those beside it, each by itself.
  package var all: [RenderFault] {
    var first = self
    first.others = []
    return [first] + others
  }
  /// Something is missing: of a message that was not read whole this says nothing.
  package static func isOfAbsence(_ code: String) -> Bool { [requiredCode, textRequiredCode].contains(code) }

  /// `what`: begins the sentence, as "the payload". `bytes` is more than `limit`.
  package static func tooLarge(_ what: String, provider: ProviderName, bytes: Int, limit: Int, pointer: String = "")
    -> Self
  {
    Self(
      pointer: pointer, code: tooLargeCode,
      detail: "\(provider.rawValue): \(what) has \(bytes) bytes, \(bytes - limit) over the limit of \(limit)")
  }
  /// Of a kind that the vendor has and this provider does not render.
  package static func kindNotSupported(_ kind: Kind, provider: ProviderName) -> Self {
    Self(
      pointer: "/kind", code: "kind_not_supported", detail: "\(provider.rawValue): \(kind.rawValue) is not sent yet")
  }
}

extension String {
  /// This text as one step of a JSON pointer.
  package var pointerStep: String {
    var step = ""
    for character in unicodeScalars {
      switch character {
      case "~": step += "~0"
      case "/": step += "~1"
      default: step.unicodeScalars.append(character)
      }
    }
    return step
  }
}
