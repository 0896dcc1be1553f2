import Domain
import TLS

extension APNsProvider {
  /// What the account shows, and what it serves: a certificate what it lists, a key everything, either within the bundle
  /// ids and kinds that the configuration names.
  static func proof(of credential: Credential) throws(CredentialFault) -> (APNsProof, Coverage) {
    let kinds = try tokenKinds(of: credential)
    guard credential.files[APNsCertificate.file] == nil else {
      for setting in ["key_file", "key_id", "team_id", "bundle_ids"]
      where credential.files[setting] != nil || credential.texts[setting] != nil || credential.lists[setting] != nil {
        throw CredentialFault(
          setting: setting, problem: "a credential has a key or a certificate, not both",
          fix: "leave \(setting) out, or make two credentials of it")
      }
      let certificate = try APNsCertificate(credential)
      var served = certificate.bundleIDs
      if let kinds { served = served.mapValues { $0.intersection(kinds) }.filter { !$0.value.isEmpty } }
      guard !served.isEmpty else {
        throw CredentialFault(
          setting: "token_kinds", problem: "the certificate serves none of them",
          fix: "its topics are \(certificate.topics.joined(separator: ", "))")
      }
      return (.certificate(certificate), Coverage(bundleIDs: served, ownBundleID: certificate.ownBundleID))
    }
    for setting in [APNsCertificate.keyFile, APNsCertificate.passwordFile] where credential.files[setting] != nil {
      throw CredentialFault(
        setting: setting, problem: "there is no certificate", fix: "add \(APNsCertificate.file), or leave it out")
    }
    let key = try token(of: credential)
    let bundleIDs = try bundleIDs(of: credential)
    guard let topic = credential.texts["topic"] ?? bundleIDs?.first, APNsTopic.isBundleID(topic) else {
      throw CredentialFault(
        setting: "topic", problem: "missing or not a bundle id", fix: "set it to the app's bundle id, com.example.app")
    }
    guard let bundleIDs else { return (key, Coverage(tokenKinds: kinds, ownBundleID: topic)) }
    guard bundleIDs.contains(topic) else {
      throw CredentialFault(setting: "topic", problem: "bundle_ids does not list it", fix: "add it there")
    }
    let served = kinds ?? Set(TokenKind.allCases)
    return (
      key, Coverage(bundleIDs: Dictionary(uniqueKeysWithValues: bundleIDs.map { ($0, served) }), ownBundleID: topic)
    )
  }

  /// Whoever puts another host in Apple's place means both: with `origin` alone, channels are managed nowhere.
  static func channelOrigin(of credential: Credential) throws(CredentialFault) -> Origin? {
    guard let text = credential.texts["channels_origin"] else {
      if let origin = credential.origin, !origin.host.hasSuffix(".apple.com") { return nil }
      guard let vendor = APNsAccount.channelHosts[credential.environment] else {
        preconditionFailure("an environment without a host")
      }
      return vendor
    }
    let colon = text.lastIndex(of: ":")
    let host = colon.map { String(text[..<$0]) } ?? ""
    guard let port = colon.flatMap({ Int(text[text.index(after: $0)...]) }), (1...65_535).contains(port), !host.isEmpty,
      Header.isSafeValue(host), !host.contains(where: { $0 == "/" || $0 == " " || $0 == "@" })
    else {
      throw CredentialFault(
        setting: "channels_origin", problem: "no host and port", fix: "write localhost:2196; the scheme is always https"
      )
    }
    return Origin(host: host, port: port)
  }

  private static func token(of credential: Credential) throws(CredentialFault) -> APNsProof {
    guard let pem = credential.files["key_file"], !pem.isEmpty else {
      throw CredentialFault(
        setting: "key_file", problem: "missing or empty",
        fix: "name the .p8 file downloaded with the key, or a certificate as \(APNsCertificate.file)")
    }
    let keyID = try identifier("key_id", in: credential, names: "the key")
    let teamID = try identifier("team_id", in: credential, names: "the team (Membership details)")
    do {
      return .token(key: try SigningKey(pem: pem, for: .es256), keyID: keyID, teamID: teamID)
    } catch {
      throw CredentialFault(
        setting: "key_file", problem: "no P-256 private key in PKCS#8 PEM: \(error.reason)",
        fix: "use the .p8 file as downloaded, unchanged")
    }
  }

  private static func bundleIDs(of credential: Credential) throws(CredentialFault) -> [String]? {
    guard let names = credential.lists["bundle_ids"] else { return nil }
    guard !names.isEmpty, names.allSatisfy(APNsTopic.isBundleID), Set(names).count == names.count else {
      throw CredentialFault(
        setting: "bundle_ids", problem: "not a list of different bundle ids",
        fix: "list those that the key may send to, or leave it out for all of the team's")
    }
    return names
  }

  private static func tokenKinds(of credential: Credential) throws(CredentialFault) -> Set<TokenKind>? {
    guard let words = credential.lists["token_kinds"] else { return nil }
    var kinds: Set<TokenKind> = []
    for word in words {
      guard let kind = TokenKind(rawValue: word), kind != .fid, kind != .subscribers else {
        let known = TokenKind.allCases.filter { $0 != .fid && $0 != .subscribers }.map(\.rawValue)
        let near = Suggestion.nearest(to: word, among: known).map { "did you mean \($0)?" }
        throw CredentialFault(
          setting: "token_kinds", problem: "\"\(word)\" is not a kind of APNs token",
          fix: near ?? "use some of \(known.joined(separator: ", "))")
      }
      kinds.insert(kind)
    }
    guard !kinds.isEmpty else {
      throw CredentialFault(setting: "token_kinds", problem: "an empty list", fix: "leave it out for all kinds")
    }
    return kinds
  }

  private static func identifier(_ setting: String, in credential: Credential, names thing: String)
    throws(CredentialFault) -> String
  {
    let text = credential.texts[setting] ?? ""
    let fits =
      text.utf8.count == 10
      && text.utf8.allSatisfy {
        ($0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z")) || ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9"))
      }
    guard fits else {
      throw CredentialFault(
        setting: setting, problem: text.isEmpty ? "missing" : "not 10 characters of A–Z and 0–9",
        fix: "copy the id of \(thing) from the developer account")
    }
    return text
  }
}
