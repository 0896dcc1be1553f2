import Configuration
package import Domain
import TLS

/// What the API shows in handshakes, checked.
package struct ServerCertificate: Sendable {
  let chain: [UInt8]
  let key: [UInt8]
  /// What operators may know of it.
  package let facts: CredentialFacts

  /// Nil: the API has none. Throws if certificate and key cannot be used together.
  init?(_ listen: Configuration.Listen) throws(ConfigurationFault) {
    guard let chain = listen.certificate, let key = listen.key else { return nil }
    let identity: Identity
    do throws(KeyFault) {
      identity = try Identity(chain: chain, key: key, password: nil)
    } catch {
      throw ConfigurationFault(
        pointer: "/listen/certificate_file",
        problem: "\(listen.certificateFile ?? "") and \(listen.keyFile ?? "") cannot be used: \(error.reason)",
        fix: "Put the API's certificate with those above it, and its key without a password there, both as PEM")
    }
    (self.chain, self.key) = (chain, key)
    facts = CredentialFacts(
      kind: "certificate", name: identity.certificate.commonName ?? "of the API",
      expiresAt: WallTime(seconds: identity.certificate.notAfter))
  }

  /// When it ends, in words, if that is soon; `isOver`: it has.
  package func expiryWarning(now: WallTime) -> (text: String, isOver: Bool)? {
    guard let left = facts.shortTimeLeft(now: now) else { return nil }
    let way = "replace its files with those of a new one; no restart is needed"
    if left <= 0 { return ("expired, so that clients refuse the API: \(way)", true) }
    let days = left / 86_400_000
    return ("expires in \(days == 1 ? "1 day" : "\(days) days"): \(way)", false)
  }
}
