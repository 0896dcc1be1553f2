import Domain
import Glibc
import JSON
import TLS

/// The folder with what clients of the sandbox need: made if missing, kept if there.
struct KeyFolder {
  let directory: String
  let authority: CertificateAuthority
  /// Public halves of what clients sign with.
  let apnsKeys: [APNsKey]
  let accountKey: VerifyingKey
  let workloadKey: VerifyingKey
  let oneSignalKey: String
  let oneSignalLegacyKey: String
  /// What the keys of all browsers are made of.
  let browserSecret: [UInt8]
  private let accountPEM: [UInt8]

  static let accountKeyID = "5a17d80c0de5a17d80c0de5a17d80c0de5a17d80"
  var accountEmail: String { "sandbox@\(projectID).iam.gserviceaccount.com" }
  private let projectID: String

  private static let workloadTokenLife: Int64 = 30 * 86_400

  init(_ settings: SandboxSettings, now: WallTime) throws(SandboxFailure) {
    directory = settings.directory
    projectID = settings.projectID
    try Self.make(directory)
    let folder = directory
    authority = try Self.authority(folder)

    apnsKeys = try APNsFiles(settings, authority: authority).keys

    let accountFile = "\(folder)/service-account.json"
    if let old = try Self.read(accountFile) {
      guard let file = try? JSON.parse(old), let pem = file["private_key"]?.string else {
        throw SandboxFailure(reason: "\(accountFile) is no service-account file; remove it and start again")
      }
      accountPEM = Array(pem.utf8)
    } else {
      accountPEM = SigningKey.generate(.rs256).pem
    }
    accountKey = try Self.verifying(accountPEM, .rs256, accountFile)

    let key = try Self.kept("\(folder)/onesignal.key", secret: true) {
      Array(("os_v2_app_" + Base64URL.encode(SecureRandom.bytes(32)) + "\n").utf8)
    }
    oneSignalKey = String(decoding: key.filter { $0 > 0x20 }, as: UTF8.self)
    let legacy = try Self.kept("\(folder)/onesignal-legacy.key", secret: true) {
      Array((Base64URL.encode(SecureRandom.bytes(36)) + "\n").utf8)
    }
    oneSignalLegacyKey = String(decoding: legacy.filter { $0 > 0x20 }, as: UTF8.self)

    browserSecret = try Self.kept("\(folder)/browsers.key", secret: true) { SecureRandom.bytes(32) }
    let vapid = "\(folder)/vapid-key.pem"
    _ = try Self.verifying(Self.kept(vapid, secret: true) { SigningKey.generate(.es256).pem }, .es256, vapid)

    // The token is as young as the sandbox; its key serves no other purpose.
    let issuer = SigningKey.generate(.es256)
    let token = WorkloadIdentity.subjectToken(issuer.key, now: now, life: Self.workloadTokenLife)
    try Self.write("\(folder)/workload-identity.token", Array(token.utf8), secret: true)
    workloadKey = try Self.verifying(issuer.pem, .es256, "\(folder)/workload-identity.token")
  }

  /// Writes what depends on the ports: the credential files for FCM and `sandbox.json`.
  func write(_ ports: Sandbox.Ports, _ settings: SandboxSettings) throws(SandboxFailure) {
    let account = JSONValue.object([
      JSONMember("type", .string("service_account")), JSONMember("project_id", .string(settings.projectID)),
      JSONMember("private_key_id", .string(Self.accountKeyID)),
      JSONMember("private_key", .string(String(decoding: accountPEM, as: UTF8.self))),
      JSONMember("client_email", .string(accountEmail)), JSONMember("client_id", .string("100000000000000000001")),
      JSONMember("token_uri", .string("https://localhost:\(ports.oneSignal)\(TokenEndpoint.path)")),
    ])
    try Self.write("\(directory)/service-account.json", account.encoded, secret: true)
    let base = "https://localhost:\(ports.oneSignal)"
    let external = JSONValue.object([
      JSONMember("type", .string("external_account")), JSONMember("audience", .string(WorkloadIdentity.audience)),
      JSONMember("subject_token_type", .string("urn:ietf:params:oauth:token-type:jwt")),
      JSONMember("token_url", .string(base + WorkloadIdentity.exchangePath)),
      JSONMember(
        "service_account_impersonation_url",
        .string("\(base)/v1/projects/-/serviceAccounts/\(accountEmail):generateAccessToken")),
      JSONMember(
        "credential_source",
        .object([JSONMember("file", .string(Self.absolute("\(directory)/workload-identity.token")))])),
    ])
    try Self.write("\(directory)/workload-identity.json", external.encoded, secret: true)
    try Self.write("\(directory)/sandbox.json", Self.description(ports, settings, oneSignalKey).encoded, secret: true)
  }

  static func description(_ ports: Sandbox.Ports, _ settings: SandboxSettings, _ apiKey: String) -> JSONValue {
    let directory = settings.directory
    return .object([
      JSONMember("host", .string("localhost")), JSONMember("apns_port", .integer(Int64(ports.apns))),
      JSONMember("fcm_port", .integer(Int64(ports.fcm))),
      JSONMember("onesignal_port", .integer(Int64(ports.oneSignal))),
      JSONMember("control_port", .integer(Int64(ports.control))),
      JSONMember("channels_port", .integer(Int64(ports.channels))),
      JSONMember("development_port", .integer(Int64(ports.development))),
      JSONMember("development_channels_port", .integer(Int64(ports.developmentChannels))),
      JSONMember("metadata_port", .integer(Int64(ports.metadata))),
      JSONMember("webpush_port", .integer(Int64(ports.webPush))), JSONMember("key_id", .string(settings.keyID)),
      JSONMember("team_id", .string(settings.teamID)),
      JSONMember("topic", .string(settings.bundleIDs.first ?? "com.example.app")),
      JSONMember("project_id", .string(settings.projectID)), JSONMember("app_id", .string(settings.oneSignalAppID)),
      JSONMember("api_key", .string(apiKey)), JSONMember("ca", .string("\(directory)/ca.pem")),
      JSONMember("apns_key", .string("\(directory)/apns-key.p8")),
      JSONMember("service_account", .string("\(directory)/service-account.json")),
      JSONMember("onesignal_key", .string("\(directory)/onesignal.key")),
      JSONMember("onesignal_legacy_key", .string("\(directory)/onesignal-legacy.key")),
      JSONMember("workload_identity", .string("\(directory)/workload-identity.json")),
      JSONMember("apns_certificate", .string("\(directory)/apns-certificate.p12")),
      JSONMember("certificate_password", .string("\(directory)/certificate.password")),
      JSONMember("mdm_certificate", .string("\(directory)/mdm-certificate.p12")),
      JSONMember("mdm_topic", .string(APNsFiles.mdmTopic)),
      JSONMember("vapid_key", .string("\(directory)/vapid-key.pem")),
    ])
  }

  // MARK: Keeping

  private static func authority(_ folder: String) throws(SandboxFailure) -> CertificateAuthority {
    let files = (certificate: "\(folder)/ca.pem", key: "\(folder)/ca.key")
    if let certificate = try read(files.certificate), let key = try read(files.key) {
      let kept: CertificateAuthority
      do { kept = try CertificateAuthority(certificatePEM: certificate, keyPEM: key) } catch {
        throw SandboxFailure(
          reason: "\(files.certificate) and ca.key are no authority (\(error.reason)); remove both and start again")
      }
      if kept.outlivesLeaves { return kept }
    }
    let made = CertificateAuthority(name: "Fanfare sandbox")
    try write(files.key, made.keyPEM, secret: true)
    try write(files.certificate, made.certificatePEM, secret: false)
    return made
  }

  static func verifying(
    _ pem: [UInt8], _ algorithm: SigningKey.Algorithm, _ file: String
  ) throws(SandboxFailure) -> VerifyingKey {
    do {
      return try VerifyingKey(pem: SigningKey(pem: pem, for: algorithm).publicKeyPEM, for: algorithm)
    } catch {
      throw SandboxFailure(
        reason: "the key in \(file) cannot be used (\(error.reason)); remove the file and start again")
    }
  }

  static func kept(
    _ file: String, secret: Bool, _ make: () -> [UInt8]
  ) throws(SandboxFailure) -> [UInt8] {
    if let old = try read(file) { return old }
    let new = make()
    try write(file, new, secret: secret)
    return new
  }

  // MARK: Files

  private static func make(_ directory: String) throws(SandboxFailure) {
    for end in directory.indices.dropFirst() + [directory.endIndex]
    where end == directory.endIndex || directory[end] == "/" {
      let path = String(directory[..<end])
      if mkdir(path, 0o700) != 0, errno != EEXIST { throw failure("cannot make the folder \(path)") }
    }
  }

  /// Nil if there is no such file.
  private static func read(_ file: String) throws(SandboxFailure) -> [UInt8]? {
    let fd = open(file, O_RDONLY | O_CLOEXEC)
    if fd < 0 {
      if errno == ENOENT { return nil }
      throw failure("cannot read \(file)")
    }
    defer { close(fd) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = Glibc.read(fd, &chunk, chunk.count)
      if count < 0 { throw failure("cannot read \(file)") }
      if count == 0 { return content }
      content += chunk[..<count]
    }
  }

  /// Whole or not at all, by a rename.
  static func write(_ file: String, _ content: [UInt8], secret: Bool) throws(SandboxFailure) {
    let draft = "\(file).new"
    unlink(draft)
    let fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, secret ? 0o600 : 0o644)
    guard fd >= 0 else { throw failure("cannot write \(file)") }
    var written = 0
    while written < content.count {
      let count = content.withUnsafeBytes { Glibc.write(fd, $0.baseAddress! + written, content.count - written) }
      if count <= 0 {
        close(fd)
        throw failure("cannot write \(file)")
      }
      written += count
    }
    close(fd)
    guard rename(draft, file) == 0 else { throw failure("cannot write \(file)") }
  }

  /// Clients may run in another folder.
  private static func absolute(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  private static func failure(_ what: String) -> SandboxFailure {
    SandboxFailure(reason: "\(what): \(String(cString: strerror(errno)))")
  }
}
