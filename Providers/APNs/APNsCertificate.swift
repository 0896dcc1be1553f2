import Domain
import TLS

/// A push certificate (protocols/apns.md section 7): what it may send to, and until when.
struct APNsCertificate: Sendable {
  let identity: Identity
  /// As the certificate lists them.
  let topics: [String]
  let bundleIDs: [String: Set<TokenKind>]
  /// The bundle id that addresses without one mean.
  let ownBundleID: String

  static let topicExtensions = ["1.2.840.113635.100.6.3.6", "1.2.840.113635.100.6.3.4"]
  /// Which of the two worlds a certificate is for (observed in clients; one may have both).
  static let environmentExtensions: [(oid: String, environment: Environment)] = [
    ("1.2.840.113635.100.6.3.1", .sandbox), ("1.2.840.113635.100.6.3.2", .production),
  ]
  /// Served by provider tokens only, whatever the certificate lists.
  static let excluded: Set<TokenKind> = [.location]

  static let file = "certificate_file"
  static let keyFile = "certificate_key_file"
  static let passwordFile = "certificate_password_file"

  init(_ credential: Credential) throws(CredentialFault) {
    identity = try Self.identity(of: credential)
    let certificate = identity.certificate
    var listed: [(topic: String, kinds: [String])] = []
    for oid in Self.topicExtensions {
      if let content = certificate.extension(oid) { listed += TopicList.read(content) }
    }
    if let id = certificate.userID, !id.isEmpty, !listed.contains(where: { $0.topic == id }) {
      listed.insert((id, []), at: 0)
    }
    listed = listed.filter { APNsTopic.isBundleID($0.topic) }
    var bundleIDs: [String: Set<TokenKind>] = [:]
    for entry in listed {
      let topic = APNsTopic(entry.topic, isApp: entry.kinds.contains("app"))
      let kinds = topic.tokenKinds.subtracting(Self.excluded)
      bundleIDs[topic.bundleID, default: []].formUnion(kinds)
      // Devices may be registered with the whole topic in place of a bundle id.
      if topic.bundleID != entry.topic { bundleIDs[entry.topic, default: []].formUnion(kinds) }
    }
    let served = bundleIDs.filter { !$0.value.isEmpty }
    self.bundleIDs = served
    topics = listed.map(\.topic)
    let first = listed.map { APNsTopic($0.topic, isApp: $0.kinds.contains("app")).bundleID }
      .first { served[$0] != nil }
    guard let first else {
      throw CredentialFault(
        setting: Self.file, problem: "it names no topic, so it is not a certificate of Apple's push service",
        fix: "export the certificate named Apple Push Services from the developer account")
    }
    let worlds = Self.environmentExtensions.filter { certificate.extension($0.oid) != nil }.map(\.environment)
    guard worlds.isEmpty || worlds.contains(credential.environment) else {
      throw CredentialFault(
        setting: Self.file, problem: "it is for the \(worlds[0].rawValue) environment only",
        fix: "set environment: \"\(worlds[0].rawValue)\", or use a certificate for \(credential.environment.rawValue)")
    }
    ownBundleID = credential.texts["topic"] ?? first
    guard served[ownBundleID] != nil else {
      throw CredentialFault(
        setting: "topic", problem: "the certificate does not list it",
        fix: "use one of \(served.keys.sorted().joined(separator: ", ")), or leave it out")
    }
  }

  private static func identity(of credential: Credential) throws(CredentialFault) -> Identity {
    let content = credential.files[file] ?? []
    let password = credential.files[passwordFile].map { bytes in
      String(decoding: bytes, as: UTF8.self).trimmingLineEnd
    }
    let isPKCS12 = content.first == 0x30
    if isPKCS12, credential.files[keyFile] != nil {
      throw CredentialFault(
        setting: keyFile, problem: "a .p12 file holds its key itself", fix: "leave \(keyFile) out")
    }
    do {
      if isPKCS12 { return try Identity(pkcs12: content, password: password ?? "") }
      return try Identity(chain: content, key: credential.files[keyFile] ?? content, password: password)
    } catch {
      let locked = error.reason.contains("password")
      throw CredentialFault(
        setting: locked ? passwordFile : file, problem: error.reason,
        fix: locked
          ? "put only the password of the export into a separate file"
          : "use a .p12 with certificate and key, or PEM of both (the key may be in \(keyFile))")
    }
  }
}

extension String {
  fileprivate var trimmingLineEnd: String {
    var text = self[...]
    while let last = text.last, last.isNewline { text.removeLast() }
    return String(text)
  }
}
