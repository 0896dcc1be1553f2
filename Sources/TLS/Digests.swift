package import Domain

package enum Digest {
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] { preconditionFailure("not built yet") }
  package static func hmacSHA256(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] { preconditionFailure("not built yet") }
  /// Equality whose time does not depend on the content.
  package static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool { preconditionFailure("not built yet") }
}

package enum SecureRandom {
  package static func bytes(_ count: Int) -> [UInt8] { preconditionFailure("not built yet") }
  package static func word() -> UInt64 { preconditionFailure("not built yet") }
}

package enum Base64URL {
  /// Without padding.
  package static func encode(_ bytes: [UInt8]) -> String { preconditionFailure("not built yet") }
  /// Nil for any other alphabet; padding is refused.
  package static func decode(_ text: String) -> [UInt8]? { preconditionFailure("not built yet") }
}

extension UUIDBytes {
  /// RFC 9562 version 5 (SHA-1) of `name` in `namespace`.
  package static func v5(namespace: UUIDBytes, name: [UInt8]) -> UUIDBytes { preconditionFailure("not built yet") }
}
