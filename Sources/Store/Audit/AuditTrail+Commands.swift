package import Domain
import Glibc
import Loop

extension AuditEntry {
  /// Of a command that does something at Redis itself, run by this process' user on this machine.
  package init(command operation: String, at now: WallTime) {
    self.init(operation: operation, at: now)
    var host = [CChar](repeating: 0, count: 256)
    gethostname(&host, host.count - 1)
    let name = Self.localName(of: geteuid()) ?? "uid \(geteuid())"
    user = "\(name)@\(String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))"
  }

  /// From the machine's own list of users: no directory in the network is asked.
  private static func localName(of user: uid_t) -> String? {
    guard let file = fopen("/etc/passwd", "re") else { return nil }
    defer { fclose(file) }
    while let entry = fgetpwent(file) {
      if entry.pointee.pw_uid == user { return String(cString: entry.pointee.pw_name) }
    }
    return nil
  }
}

extension AuditTrail {
  /// Does the work of a command: it begins when Redis has its entry. `tell`: enters what came of it.
  package func record<Value>(
    _ entry: AuditEntry, app: AppID, _ work: () async throws -> Value,
    tell: (Value, inout AuditEntry) -> Void = { _, _ in }
  ) async throws -> Value {
    var act = try await begin(entry, app: app, in: .admin)
    let result: Result<Value, any Error>
    do {
      let value = try await work()
      act.entry.outcome = .done
      tell(value, &act.entry)
      result = .success(value)
    } catch {
      if case KeyringFault.refused = error { act.entry.outcome = .refused } else { act.entry.outcome = .failed }
      result = .failure(error)
    }
    act.entry.at = loop.wallNow
    // What was done is done: without this its entry is `unknown` some minutes later.
    try? await end(act)
    return try result.get()
  }
}
