/// The refusals that every provider shares.
extension RenderFault {
  package static let tooLargeCode = "payload_too_large"

  package static func tooLarge(_ what: String, provider: ProviderName, bytes: Int, limit: Int, pointer: String = "")
    -> Self
  {
    Self(
      pointer: pointer, code: tooLargeCode,
      detail: "\(provider.rawValue): \(what) has \(bytes) bytes, \(bytes - limit) over the limit of \(limit)")
  }
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
