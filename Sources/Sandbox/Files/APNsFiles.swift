import TLS

/// The credentials of APNs in the folder: keys of each kind, and client certificates as PEM and PKCS#12.
struct APNsFiles {
  static let password = "sandbox"
  let keys: [APNsKey]

  private struct KeyFile {
    var name: String
    var id: String
    var team: String
    var environments = Set(APNsEnvironment.allCases)
    var topics: APNsTopics
    var isTopicSpecific = false
  }

  init(_ settings: SandboxSettings, authority: CertificateAuthority) throws(SandboxFailure) {
    let bundles = Set(settings.bundleIDs)
    let files = [
      KeyFile(name: "apns-key.p8", id: settings.keyID, team: settings.teamID, topics: .bundles(bundles)),
      KeyFile(
        name: "apns-topic-key.p8", id: "TOPICKEY01", team: settings.teamID, topics: .bundles(bundles),
        isTopicSpecific: true),
      KeyFile(
        name: "apns-development-key.p8", id: "DEVELOPKEY", team: settings.teamID, environments: [.development],
        topics: .bundles(bundles)),
      KeyFile(
        name: "apns-other-team-key.p8", id: "OTHERKEY01", team: settings.otherTeamID,
        topics: .bundles([settings.otherBundleID])),
    ]
    var keys: [APNsKey] = []
    for file in files {
      let path = "\(settings.directory)/\(file.name)"
      let pem = try KeyFolder.kept(path, secret: true) { SigningKey.generate(.es256).pem }
      keys.append(
        APNsKey(
          id: file.id, team: file.team, verifying: try KeyFolder.verifying(pem, .es256, path),
          environments: file.environments, topics: file.topics, isTopicSpecific: file.isTopicSpecific))
    }
    self.keys = keys
    let word = Array((Self.password + "\n").utf8)
    try KeyFolder.write("\(settings.directory)/certificate.password", word, secret: true)
    for issued in Self.certificates(settings) { try issued.write(settings.directory, authority) }
  }

  // MARK: Certificates

  private struct CertificateFile {
    var name: String
    var userID: String
    var content: APNsCertificate
    var seconds = 365 * 86_400

    /// `NAME.pem` holds certificate and key, `NAME.p12` both under the password.
    func write(_ directory: String, _ authority: CertificateAuthority) throws(SandboxFailure) {
      let issued = authority.issueClient(
        name: "Apple Push Services: \(userID)", userID: userID, extensions: content.extensions, seconds: seconds)
      try KeyFolder.write("\(directory)/\(name).pem", issued.certificate + issued.key, secret: true)
      do {
        let file = try CertificateAuthority.pkcs12(
          certificate: issued.certificate, key: issued.key, password: APNsFiles.password)
        try KeyFolder.write("\(directory)/\(name).p12", file, secret: true)
      } catch let fault as KeyFault {
        throw SandboxFailure(reason: "\(name).p12: \(fault.reason)")
      } catch let failure as SandboxFailure {
        throw failure
      } catch { preconditionFailure("no other error is thrown") }
    }
  }

  private static func certificates(_ settings: SandboxSettings) -> [CertificateFile] {
    let bundle = settings.bundleIDs.first ?? "com.example.app"
    let topics = [bundle] + [APNsPushType.voip, .complication].map { bundle + $0.topicSuffix }
    let both = Set(APNsEnvironment.allCases)
    return [
      CertificateFile(
        name: "apns-certificate", userID: bundle, content: APNsCertificate(topics: topics, environments: both)),
      CertificateFile(
        name: "apns-certificate-development", userID: bundle,
        content: APNsCertificate(topics: topics, environments: [.development])),
      CertificateFile(
        name: "apns-certificate-expired", userID: bundle,
        content: APNsCertificate(topics: topics, environments: both), seconds: -86_400),
      CertificateFile(
        name: "mdm-certificate", userID: mdmTopic, content: APNsCertificate(topics: [], environments: both)),
    ]
  }
  static let mdmTopic = "com.apple.mgmt.External.8250eaf6-1a58-489e-b136-7c74a864b434"
}
