import CommandFrame
import Configuration
import Domain
import Gateway
import JSON
import Loop
import Store

/// Configuration, credentials, providers and Redis, before anything depends on them.
enum CheckCommand {
  static let command = Command(
    name: "check", summary: "check configuration, credentials, providers and Redis",
    about: """
      Reads the configuration and opens every credential. Asks each provider whether it accepts the credential, with a
      call that delivers nothing: APNs gets a push to a token that no device has, FCM gets a message with validate_only,
      OneSignal is asked for one of the app's notifications. Push services for browsers have no accounts: they only
      have to answer. Checks the time zone database, opens the store, and warns of data that Redis could lose. Shows the
      type, topics and expiry of each credential, and warns 30 days before expiry.
      """,
    options: [
      Command.configuration,
      Command.Option("--offline", "check only the configuration and the credentials"),
      Command.json,
    ],
    examples: ["fanfare check --config /etc/fanfare/fanfare.json5"]
  ) { arguments in try run(arguments) }

  private static func run(_ arguments: Arguments) throws -> ExitCode {
    let setup = try Setup.load(arguments)
    let offline = arguments.has("--offline")
    let findings = try Blocking.run { loop in
      let contents = "\(counted(setup.apps.count, "app")), \(counted(setup.accounts.count, "credential"))"
      var found = [Finding("configuration", note: contents)]
      if setup.accounts.isEmpty {
        found[0].warning = "nothing can be sent: name an app with a credential in `apps`"
      }
      found.append(zones(setup))
      if let certificate = setup.certificate { found.append(Finding(of: certificate, now: loop.wallNow)) }
      found += setup.risks.map { Finding(of: $0, setup) }
      if !offline { found += await redis(setup, loop) }
      for (_, account) in setup.accounts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        found.append(await CredentialCheck(account: account, setup: setup, loop: loop).run(handshake: !offline))
      }
      return found
    }
    show(findings, json: arguments.wantsJSON)
    let problems = findings.filter { $0.problem != nil }
    if problems.isEmpty { return .success }
    return problems.contains(where: \.isAway) ? .unreachable : .failure
  }

  private static func show(_ findings: [Finding], json: Bool) {
    guard json else {
      var table = Table("result", "subject", "what was found", state: "result")
      for finding in findings { table.row(finding.mark, finding.subject, finding.text) }
      return table.show()
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("ok", findings.allSatisfy { $0.problem == nil })
    writer.key("items")
    writer.beginArray()
    for finding in findings { finding.write(to: &writer) }
    writer.endArray()
    writer.endObject()
    Terminal.print(writer.bytes)
  }

  /// Names are checked when the configuration is read; this machine has to know their clocks as well.
  private static func zones(_ setup: Setup) -> Finding {
    let book = ZoneFiles.book
    let used = Set(setup.apps.values.flatMap { [$0.clock.fallbackZone, $0.clock.quietHours?.zone].compactMap { $0 } })
    let unknown = used.filter { book.rules($0) == nil }.sorted()
    guard book.isThere else {
      let text = "this machine has no time zone database: install tzdata in \(ZoneFiles.folder)"
      guard unknown.isEmpty else {
        return Finding("time zones", problem: "\(text); the configuration names \(unknown.joined(separator: ", "))")
      }
      var finding = Finding("time zones")
      finding.warning = "\(text); until then, messages by local time are refused"
      return finding
    }
    guard unknown.isEmpty else {
      return Finding(
        "time zones",
        problem: "this machine does not know \(unknown.joined(separator: ", ")): update tzdata in \(ZoneFiles.folder)")
    }
    return Finding("time zones", note: "the time zone database is installed")
  }

  /// Longer than the time between two looks at Redis.
  private static let probeMilliseconds: Int64 = 1_500

  private static func redis(_ setup: Setup, _ loop: EventLoop) async -> [Finding] {
    let store = Store(loop: loop, redis: setup.redis, settings: setup.store)
    defer { store.close() }
    do {
      try await store.openOnce()
      if let skew = ClockSkew(offset: try await store.session.clockOffset()) {
        return [Finding("redis", problem: skew.text)]
      }
      let status = try await store.session.redisStatus()
      var finding = Finding(
        "redis", note: "the store is open, \(counted(setup.store.partitions, "partition")), \(status.promise)")
      if !status.losses.isEmpty { finding.warning = status.losses.joined(separator: "; ") }
      finding.problem = status.shortage(ofReplicas: setup.replicas)
      // What evicts is no store to open.
      let risks = setup.risks(of: status) + (try await setup.risks(ofKeysIn: store))
      return [finding] + risks.map { Finding(of: $0, setup) }
    } catch {
      switch error {
      case .unavailable(let reason, _):
        // What Redis refuses is told with what mends it, which the next look at it finds out.
        if store.session.condition == .ready { await loop.sleep(milliseconds: probeMilliseconds) }
        let condition = store.session.condition
        let mended = condition.takesQuestions && condition != .ready
        var finding = Finding("redis", problem: mended ? "\(condition.word): \(condition.detail) (\(reason))" : reason)
        finding.isAway = !condition.takesQuestions
        return [finding]
      case .unusable(let reason): return [Finding("redis", problem: reason)]
      case .leaseLost(let partition): return [Finding("redis", problem: "partition \(partition)")]
      }
    }
  }
}
