import Domain

/// Bounds of the settings, so that a slip of a zero is a fault and not an outage.
private enum Bounds {
  static let port = 1...65_535
  static let wait: ClosedRange<Int64> = 1...86_400_000
  static let timeout: ClosedRange<Int64> = 10...600_000
}

extension Configuration.Redis {
  mutating func read(_ section: Section, _ files: Files) {
    var section = section
    if let url = section.text("url") { read(url: url, at: section.place("url"), section.faults) }
    username = section.text("username")
    if let name = section.text("password_file"),
      let content = files.secret(name, at: section.place("password_file"))
    {
      password = String(decoding: content, as: UTF8.self).trimmingLineEnd
    }
    if let name = section.text("ca_file"), files.open(name, at: section.place("ca_file")) != nil {
      caFile = files.path(name)
    }
    database = section.integer("database", in: 0...1_000_000) ?? database
    if let text = section.text("prefix") {
      if text.isEmpty || text.count > 32 || !text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) {
        section.faults.add(
          section.place("prefix"), "\"\(text)\" cannot be a prefix of keys", fix: "Use 1 … 32 ASCII letters and digits")
      } else {
        prefix = text
      }
    }
    startTimeout = section.duration("start_timeout", in: 0...86_400_000) ?? startTimeout
    section.close()
  }

  private mutating func read(url: String, at pointer: String, _ faults: FaultList) {
    let fix = "Write unix:/run/redis.sock, redis://host:6379 or rediss://host:6379 (TLS)"
    if url.hasPrefix("unix:") {
      let path = String(url.dropFirst(5)).replacing("//", with: "/")
      guard path.hasPrefix("/"), path.utf8.count < 108 else {
        return faults.add(pointer, "\"\(url)\" does not name a socket of at most 107 bytes", fix: fix)
      }
      place = .unix(path: path)
      return
    }
    let tls = url.hasPrefix("rediss://")
    guard tls || url.hasPrefix("redis://") else {
      return faults.add(pointer, "\"\(url)\" has no known scheme", fix: fix)
    }
    let rest = url.dropFirst(tls ? 9 : 8)
    guard !rest.contains("@") else {
      return faults.add(
        pointer, "others can see a password in the URL", fix: "Use username and password_file instead")
    }
    guard let place = HostPort(rest, defaultPort: 6379) else {
      return faults.add(pointer, "\"\(url)\" does not name a host and port", fix: fix)
    }
    self.place = .tcp(host: place.host, port: place.port, tls: tls)
  }
}

/// `host`, `host:port` or `[v6]:port`.
struct HostPort {
  let host: String
  let port: Int

  init?(_ text: some StringProtocol, defaultPort: Int) {
    var host = Substring(text)
    var port = defaultPort
    let nameEnd = host.hasPrefix("[") ? host.firstIndex(of: "]") : host.startIndex
    guard let nameEnd else { return nil }
    if let colon = host[nameEnd...].lastIndex(of: ":") {
      guard let number = Whole.read(host[host.index(after: colon)...], in: Bounds.port) else { return nil }
      port = number
      host = host[..<colon]
    }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.isEmpty, host.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || ".:-_".contains($0)) }) else {
      return nil
    }
    self.host = String(host)
    self.port = port
  }
}

extension String {
  /// Without the line ends that editors leave behind.
  var trimmingLineEnd: String {
    var text = self[...]
    while let last = text.last, last.isNewline { text.removeLast() }
    return String(text)
  }
}

extension Configuration.Listen {
  /// The certificate and its key as their files hold them now; only of a listener with both. Throws what is wrong with
  /// the files themselves.
  package mutating func readCertificateAgain() throws(ConfigurationFaults) {
    guard let certificateFile, let keyFile else { preconditionFailure("this listener has no certificate") }
    let files = Files(folder: ".", faults: FaultList())
    let read = (
      files.open(certificateFile, at: "/listen/certificate_file"), files.secret(keyFile, at: "/listen/key_file")
    )
    guard let chain = read.0, let secret = read.1 else {
      throw ConfigurationFaults(file: certificateFile, faults: files.faults.faults)
    }
    (certificate, key) = (chain, secret)
  }

  mutating func read(_ section: Section, _ files: Files) {
    var section = section
    address = section.text("address") ?? address
    port = section.integer("port", in: 0...65_535) ?? port
    if let name = section.text("certificate_file") {
      certificateFile = files.path(name)
      certificate = files.open(name, at: section.place("certificate_file"))
    }
    if let name = section.text("key_file") {
      keyFile = files.path(name)
      key = files.secret(name, at: section.place("key_file"))
    }
    operations = section.word("operations", of: Configuration.OperationsAccess.self) ?? operations
    for (text, pointer) in section.placedTexts("trusted_proxies") {
      if let range = AddressRange(text) {
        trustedProxies.append(range)
      } else {
        section.faults.add(
          pointer, "\"\(text)\" is not an address", fix: "Write an address or a network, such as \"10.0.0.0/8\"")
      }
    }
    if (certificateFile == nil) != (keyFile == nil) {
      section.faults.add(
        section.pointer, "certificate_file and key_file belong together", fix: "Give both for HTTPS, or none")
    }
    section.close()
  }
}

extension Configuration.Retention {
  mutating func read(_ section: Section) {
    var section = section
    time = section.duration("time", in: 60_000...(365 * 86_400_000)) ?? time
    bytes = section.size("bytes", in: (1 << 20)...(1 << 46)) ?? bytes
    section.close()
  }
}

extension Configuration.Audit {
  mutating func read(_ section: Section) {
    var section = section
    time = section.duration("time", in: 60_000...(3_650 * 86_400_000)) ?? time
    acts = section.integer("acts", in: 100...10_000_000) ?? acts
    sends = section.integer("sends", in: 100...100_000_000) ?? sends
    logSends = section.bool("log_sends") ?? logSends
    section.close()
  }
}

extension Configuration.Console {
  mutating func read(_ section: Section) {
    var section = section
    isServed = section.bool("enabled") ?? isServed
    if let name = section.text("environment") { environment = String(name.prefix(40)) }
    colour = section.word("colour", of: Colour.self) ?? colour
    idle = section.duration("idle", in: 60_000...86_400_000) ?? idle
    life = section.duration("life", in: 300_000...(30 * 86_400_000)) ?? life
    section.close()
  }
}

extension Configuration.Lanes {
  mutating func read(_ section: Section) {
    var section = section
    concurrency = section.integer("concurrency", in: 1...100) ?? concurrency
    orderHold = section.duration("order_hold", in: 0...86_400_000) ?? orderHold
    section.close()
  }
}

extension Configuration.Workers {
  mutating func read(_ section: Section) {
    var section = section
    lease = section.duration("lease", in: 1_000...300_000) ?? lease
    drain = section.duration("drain", in: 1_000...600_000) ?? drain
    probe = section.duration("probe", in: 1_000...3_600_000) ?? probe
    section.close()
  }
}

extension Configuration.PruneBrake {
  mutating func read(_ section: Section) {
    var section = section
    normalPercent = section.integer("normal_percent", in: 1...90) ?? normalPercent
    factor = section.integer("factor", in: 2...100) ?? factor
    sample = section.integer("sample", in: 10...10_000) ?? sample
    section.close()
  }
}

extension Configuration {
  /// What Redis can be asked to wait for.
  static let replicas = 0...16
}

extension Configuration.Durability {
  mutating func read(_ section: Section) {
    var section = section
    replicas = section.integer("replicas", in: Configuration.replicas) ?? replicas
    // A request waits that long, and others behind it.
    timeout = section.duration("timeout", in: 10...4_000) ?? timeout
    section.close()
  }
}

extension Configuration.Monitor {
  mutating func read(_ section: Section) {
    var section = section
    address = section.text("address") ?? address
    port = section.integer("port", in: 0...65_535) ?? port
    section.close()
  }
}

extension Configuration.HTTP2 {
  mutating func read(_ section: Section) {
    var section = section
    connections = section.integer("connections", in: 1...64) ?? connections
    connectTimeout = section.duration("connect_timeout", in: Bounds.timeout) ?? connectTimeout
    answerTimeout = section.duration("answer_timeout", in: Bounds.timeout) ?? answerTimeout
    pingAfter = section.duration("ping_after", in: Bounds.wait) ?? pingAfter
    pingTimeout = section.duration("ping_timeout", in: Bounds.timeout) ?? pingTimeout
    section.close()
  }
}

extension Configuration.Limits {
  private static let bodies: ClosedRange<Int64> = 4_096...(64 << 20)

  /// Those of keys and apps land in `tenants`: a reload takes them on.
  mutating func read(_ section: Section, _ tenants: inout TenantLimits) {
    var section = section
    tenants.read(in: &section)
    if let size = section.size("body", in: Self.bodies) { (body, messageBody) = (Int(size), Int(size)) }
    messageBody = section.size("message_body", in: Self.bodies).map { Int($0) } ?? messageBody
    bulkBody = section.size("bulk_body", in: Self.bodies).map { Int($0) } ?? bulkBody
    targets = section.integer("targets", in: 1...10_000) ?? targets
    urgentTargets = section.integer("urgent_targets", in: 1...10_000) ?? urgentTargets
    connections = section.integer("connections", in: 1...100_000) ?? connections
    connectionsPerAddress =
      section.integer("connections_per_address", in: 1...100_000) ?? connectionsPerAddress
    failedKeys = section.integer("failed_keys", in: 1...1_000_000) ?? failedKeys
    if let size = section.size("bytes_in_flight", in: 4_096...(1 << 46)) {
      bytesInFlight = Int(size)
      if Int(size) < largestBody {
        section.faults.add(
          section.place("bytes_in_flight"), "a body of \(largestBody) bytes is allowed and would never fit",
          fix: "Raise it to at least that, or lower body, message_body and bulk_body")
      }
    }
    keyShare = section.share("key_share") ?? keyShare
    addressShare = section.share("address_share") ?? addressShare
    drafts = section.integer("drafts", in: 0...10_000) ?? drafts
    draftBody = section.size("draft_body", in: 4_096...(4 << 20)).map { Int($0) } ?? draftBody
    devicesPerUser = section.integer("devices_per_user", in: 1...10_000) ?? devicesPerUser
    section.close()
  }
}

extension RetryRules {
  mutating func read(_ section: Section) {
    var section = section
    base = section.duration("base", in: Bounds.wait) ?? base
    maximum = section.duration("maximum", in: Bounds.wait) ?? maximum
    attempts = section.integer("attempts", in: 1...100_000) ?? attempts
    giveUpAfter = section.duration("give_up_after", in: 1_000...(30 * 86_400_000)) ?? giveUpAfter
    var resends = section.section("resends_at_once")
    for cause in Self.resendable {
      if let count = resends.integer(Self.key(cause), in: 0...5) { resendsAtOnce[cause] = count }
    }
    resends.close()
    var waits = section.section("floors")
    for cause in Retry.Cause.allCases {
      if let floor = waits.duration(Self.key(cause), in: 0...86_400_000) { floors[cause] = floor }
    }
    waits.close()
    section.close()
  }

  /// Causes after which a vendor may set a bound on what goes again at once.
  private static let resendable: [Retry.Cause] = [.closing, .unknownOutcome]

  /// `serverFault` is written `server_fault`.
  static func key(_ cause: Retry.Cause) -> String {
    cause.rawValue.reduce(into: "") { $0 += $1.isUppercase ? "_" + $1.lowercased() : String($1) }
  }
}
