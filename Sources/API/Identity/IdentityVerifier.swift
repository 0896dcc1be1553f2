package import Domain
import Intake
import JSON
import TLS

/// The opened keys of an app, and what its identity tokens must say (decision 0071). A token is a JWT in compact form,
/// signed by one of the keys; what its `alg` says decides nothing.
package struct IdentityVerifier: IdentityVerifying {
  /// Bytes.
  package static let longestToken = 4_096
  /// By which clocks may differ, in milliseconds.
  package static let clockSkew: Int64 = 60_000
  private static let limits = JSONLimits(depth: 4, members: 64, values: 256)

  private let keys: [String: OpenedIdentityKey]
  private let app: AppID
  /// From `iat` to `exp` at most; milliseconds.
  private let lifetime: Int64

  /// A key that cannot be opened. `index`: of the list. `reason`: what the key is, or is not; no part of it.
  package struct KeyFailure: Error, Hashable, Sendable {
    package var index: Int
    package var reason: String
  }

  /// `keys`: with different ids. `lifetime`: in milliseconds. Throws with the first key that is none.
  package init(_ keys: [IdentityKey], app: AppID, lifetime: Int64) throws(KeyFailure) {
    var opened: [String: OpenedIdentityKey] = [:]
    for (index, key) in keys.enumerated() {
      do throws(KeyFault) {
        opened[key.id] = try OpenedIdentityKey(key)
      } catch {
        throw KeyFailure(index: index, reason: error.reason)
      }
    }
    (self.keys, self.app, self.lifetime) = (opened, app, lifetime)
  }

  /// The signature is checked before any claim is read.
  package func user(in token: String, now: WallTime) throws(IdentityFault) -> String {
    guard token.utf8.count <= Self.longestToken else {
      throw IdentityFault("it is longer than \(Self.longestToken) bytes: leave out what is not needed")
    }
    let parts = token.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3, let head = Base64URL.decode(String(parts[0])),
      let body = Base64URL.decode(String(parts[1])), let signature = Base64URL.decode(String(parts[2]))
    else {
      throw IdentityFault("it is not a compact JWT: three parts in base64url without padding, with dots between")
    }
    let key = try key(of: try document(head, "header"))
    guard key.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8)) else {
      throw IdentityFault("its signature was not made with the key that its `kid` names: sign with that key")
    }
    return try IdentityClaims(document(body, "payload"), app: app).user(now: now, lifetime: lifetime)
  }

  private func document(_ bytes: [UInt8], _ what: String) throws(IdentityFault) -> JSONValue {
    let value: JSONValue
    do throws(JSONFault) {
      value = try JSON.parse(bytes, Self.limits)
    } catch {
      throw IdentityFault("its \(what) is not valid JSON: \(error.detail)")
    }
    guard value.object != nil else { throw IdentityFault("its \(what) is not a JSON object") }
    return value
  }

  private func key(of header: JSONValue) throws(IdentityFault) -> OpenedIdentityKey {
    guard let id = header["kid"]?.string else {
      throw IdentityFault("its header has no `kid`: name the `id` of a key of the app's `registration.keys`")
    }
    guard let key = keys[id] else {
      throw IdentityFault("its `kid` names no key of the app's `registration.keys`: sign with one of them")
    }
    guard header["alg"]?.string == key.algorithm.rawValue else {
      throw IdentityFault("its `alg` is not \(key.algorithm.rawValue), the algorithm of this key: use that algorithm")
    }
    // What is critical must be understood (RFC 7515 section 4.1.11), and nothing of it is.
    guard header["crit"] == nil else { throw IdentityFault("its header has `crit`: leave it out") }
    return key
  }
}

/// A key that is ready to verify. It knows its algorithm, so that no token can choose one.
enum OpenedIdentityKey: Sendable {
  case es256(VerifyingKey)
  case hs256([UInt8])

  /// As long as its digest (RFC 7518 section 3.2).
  static let shortestSecret = 32

  init(_ key: IdentityKey) throws(KeyFault) {
    switch key.algorithm {
    case .es256: self = .es256(try VerifyingKey(pem: key.content, for: .es256))
    case .hs256:
      guard key.content.count >= Self.shortestSecret else {
        throw KeyFault(reason: "shorter than \(Self.shortestSecret) bytes")
      }
      self = .hs256(key.content)
    }
  }

  var algorithm: IdentityAlgorithm {
    switch self {
    case .es256: .es256
    case .hs256: .hs256
    }
  }

  /// Takes as long whatever a wrong signature holds.
  func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    switch self {
    case .es256(let key): key.verifies(signature, of: message)
    case .hs256(let secret): Digest.equal(signature, Digest.hmacSHA256(message, key: secret))
    }
  }
}
