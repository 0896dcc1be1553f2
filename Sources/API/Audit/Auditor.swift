import Domain
import HTTPServer
import JSON
import Loop
import Store
import TLS
import Telemetry

/// Carries operations out and writes their entries into the audit. An act begins when Redis has its entry. Sends do not
/// wait: their entries are written together, at most a second behind them, and no send begins while too many wait. Belongs
/// to the loop.
final class Auditor {
  typealias Perform = (Endpoint, Call) async throws(Problem) -> HTTPServerResponse

  private let loop: EventLoop
  private let trail: AuditTrail
  private let configuration: AdoptedConfiguration
  private let bodies: LargeBodies
  private let log: Log
  private let levelOfSends: Log.Level
  private let waiting: Gauge

  /// Entries of sends that are not written yet.
  private var unwritten: [AppID: [AuditEntry]] = [:]
  private var unwrittenCount = 0
  /// Acts whose end could not be written. Redis has that they began.
  private var unended: [AuditTrail.Act] = []
  private var writing: Timer?
  private var isWriting = false
  private var tidying: Timer?
  /// Exports whose clients have not taken all.
  private var exportsUnended = 0

  /// Milliseconds from a send to the writing of its entry, at most, while Redis answers.
  private static let period: Int64 = 500
  private static let entriesAtOnce = 500
  /// So many entries of sends may wait; then sends are refused.
  private static let mostUnwritten = 20_000
  private static let mostUnended = 1_000
  /// Milliseconds between two looks for what never ended, or is old.
  private static let tidyPeriod: Int64 = 600_000
  /// Bytes of what clients name.
  private static let longestObject = 512
  private static let longestName = 128

  init(
    loop: EventLoop, store: Store, configuration: AdoptedConfiguration, logsSends: Bool, bodies: LargeBodies,
    metrics: Metrics, log: Log
  ) {
    (self.loop, self.configuration, self.bodies, self.log) = (loop, configuration, bodies, log)
    levelOfSends = logsSends ? .info : .debug
    trail = store.audit
    waiting = metrics.gauge("fanfare_audit_unwritten_entries", "Audit entries of sends that are not in Redis yet.")
  }

  // MARK: Operations

  func carryOut(_ endpoint: Endpoint, _ call: Call, _ perform: Perform) async throws(Problem) -> HTTPServerResponse {
    switch endpoint.audit {
    case .none: return try await perform(endpoint, call)
    case _ where call.flag("dry_run"): return try await perform(endpoint, call)
    case .send: return try await send(endpoint, call, perform)
    case .act(let compared): return try await act(endpoint, call, compared: compared, perform)
    case .export:
      let isWhole = !endpoint.forms.contains(.json) || call.form() != .json
      return isWhole
        ? try await act(endpoint, call, compared: false, perform) : try await perform(endpoint, call)
    }
  }

  private func send(_ endpoint: Endpoint, _ call: Call, _ perform: Perform) async throws(Problem) -> HTTPServerResponse
  {
    guard unwrittenCount < Self.mostUnwritten else {
      throw Problem(.overloaded, "The audit of earlier sends is not written yet; try again soon", retryAfter: 1)
    }
    do throws(Problem) {
      let response = try await perform(endpoint, call)
      var entry = entry(endpoint, call)
      entry.finish(with: response)
      note(entry, call.app)
      return response
    } catch {
      // What was refused sent nothing.
      guard error.code.status >= 500 else { throw error }
      var entry = entry(endpoint, call)
      entry.finish(with: error)
      note(entry, call.app)
      throw error
    }
  }

  private func act(
    _ endpoint: Endpoint, _ call: Call, compared: Bool, _ perform: Perform
  ) async throws(Problem) -> HTTPServerResponse {
    let reader = compared ? AuditedOperations.reader(of: endpoint) : nil
    var entry = entry(endpoint, call)
    // What was sent is stored under the id of its message.
    let body = call.request.body
    if !body.isEmpty {
      entry.requestDigest = await bodies.read(body.count) { AuditDigest(sha256: Digest.sha256(body)) }
    }
    if let reader { entry.before = await digest(reader, call, perform) }
    var act: AuditTrail.Act
    do throws(StoreError) {
      act = try await trail.begin(entry, app: call.app, in: AuditedOperations.trail(of: endpoint))
    } catch {
      throw Problem(error)
    }
    let result: Result<HTTPServerResponse, Problem>
    do throws(Problem) {
      var response = try await perform(endpoint, call)
      act.entry.finish(with: response)
      // A HEAD asks for no piece.
      if case .pieces(let pieces) = response.body, call.request.method != "HEAD" {
        response.body = .pieces(ending(of: act, pieces))
        return response
      }
      if reader == nil { act.entry.after = response.digest }
      result = .success(response)
    } catch {
      act.entry.finish(with: error)
      result = .failure(error)
    }
    if let reader { act.entry.after = await digest(reader, call, perform) }
    act.entry.at = loop.wallNow
    await end(act)
    return try result.get()
  }

  /// Somebody begins or ends a session by a key. `isRefused`: of what came of it.
  func record<Value>(
    _ operation: String, of key: (app: AppID, id: String), _ request: HTTPServerRequest,
    isRefused: (Value) -> Bool, _ work: () async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    var entry = AuditEntry(operation: operation, at: loop.wallNow)
    (entry.key, entry.address) = (key.id, request.peer)
    var act = try await trail.begin(entry, app: key.app, in: .sessions)
    let result: Result<Value, StoreError>
    do throws(StoreError) {
      let value = try await work()
      act.entry.outcome = isRefused(value) ? .refused : .done
      result = .success(value)
    } catch {
      act.entry.outcome = .failed
      result = .failure(error)
    }
    act.entry.at = loop.wallNow
    await end(act)
    return try result.get()
  }

  private func entry(_ endpoint: Endpoint, _ call: Call) -> AuditEntry {
    var entry = AuditEntry(operation: endpoint.operation ?? endpoint.path, at: call.now)
    entry.at = loop.wallNow
    entry.key = call.key?.id
    entry.address = call.request.peer
    entry.object =
      call.parameters.isEmpty
      ? nil : Self.shown(call.parameters.map(AuditEntry.withoutSecret).joined(separator: "/"), Self.longestObject)
    let query = call.request.query.filter { !["cursor", "limit"].contains($0.name) }
    if !query.isEmpty {
      // A token is no word for a trail.
      entry.query = Self.shown(
        query.map { "\($0.name)=\($0.name == "token" ? "…" : $0.value)" }.joined(separator: "&"), Self.longestObject)
    }
    entry.requestID = call.request.header("x-request-id").flatMap {
      $0.isEmpty ? nil : Self.shown($0, Self.longestName)
    }
    return entry
  }

  /// The first so many bytes, without what would steer a terminal or begin a line.
  private static func shown(_ text: String, _ bytes: Int) -> String {
    let scalars = text.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{fffd}" : $0 }
    return String(String.UnicodeScalarView(scalars)).bounded(bytes)
  }

  /// Of what a `GET` of the object answers now; nil: there is none.
  private func digest(_ reader: Endpoint, _ call: Call, _ perform: Perform) async -> AuditDigest? {
    let count = reader.path.count { $0 == "{" }
    var request = call.request
    (request.method, request.path) = ("GET", reader.path)
    (request.query, request.headers, request.body) = ([], [], [])
    let read = Call(
      request: request, parameters: Array(call.parameters.prefix(count)), key: call.key, now: call.now,
      cursorSecret: call.cursorSecret)
    return try? await perform(reader, read).digest
  }

  /// An export ends when its last piece is made, or when its client has gone before.
  private func ending(of act: AuditTrail.Act, _ pieces: BodyPieces) -> BodyPieces {
    let export = AuditedExport(loop, pieces) { [self] isWhole in
      var act = act
      if !isWhole { (act.entry.outcome, act.entry.code) = (.failed, Self.cutOff) }
      act.entry.at = loop.wallNow
      await end(act)
      exportsUnended -= 1
    }
    exportsUnended += 1
    return BodyPieces { () throws(BodyPieces.Broken) in try await export.next() }
  }
  private static let cutOff = "export_cut_off"

  private func end(_ act: AuditTrail.Act) async {
    tell(act.entry, of: act.app, .info)
    do throws(StoreError) {
      try await trail.end(act)
    } catch {
      // What was done is done. Until its end is written, Redis has its beginning.
      guard unended.count < Self.mostUnended else { return }
      unended.append(act)
      writeSoon()
    }
  }

  // MARK: Writing

  private func note(_ entry: consuming AuditEntry, _ app: AppID) {
    tell(entry, of: app, levelOfSends)
    unwritten[app, default: []].append(entry)
    unwrittenCount += 1
    if unwrittenCount >= Self.entriesAtOnce, !isWriting {
      loop.spawn { [self] in await write() }
    } else {
      writeSoon()
    }
  }

  private func writeSoon() {
    guard writing == nil else { return }
    writing = loop.after(milliseconds: Self.period) { [self] in
      writing = nil
      loop.spawn { [self] in await write() }
    }
  }

  /// Writes what waits; what cannot be written is tried again.
  private func write() async {
    guard !isWriting else { return writeSoon() }
    isWriting = true
    defer { isWriting = false }
    // What an app's trail does not take must not hold up the others.
    for app in Array(unwritten.keys) {
      // Taken out, so that what comes meanwhile copies nothing.
      let entries = unwritten.removeValue(forKey: app) ?? []
      var written = 0
      do throws(StoreError) {
        while written < entries.count {
          let some = Array(entries[written..<min(entries.count, written + Self.entriesAtOnce)])
          try await trail.add(some, app: app, in: .sends)
          written += some.count
          unwrittenCount -= some.count
        }
      } catch {
        unwritten[app] = Array(entries[written...]) + (unwritten[app] ?? [])
        writeSoon()
      }
    }
    do throws(StoreError) {
      while let act = unended.first {
        try await trail.end(act, isRepeat: true)
        unended.removeFirst()
      }
    } catch {
      writeSoon()
    }
    waiting.set(Int64(unwrittenCount))
  }

  /// Writes what waits, and looks now and then for what never ended.
  func start() { tidySoon(Self.period) }

  private func tidySoon(_ milliseconds: Int64) {
    tidying = loop.after(milliseconds: milliseconds) { [self] in
      tidySoon(Self.tidyPeriod)
      loop.spawn { [self] in
        for app in configuration.apps.keys { try? await trail.tidy(app) }
      }
    }
  }

  /// Writes what waits. What Redis does not take now is lost, and told.
  func stop() async {
    if let tidying { loop.cancel(tidying) }
    // The server has let go of them by now.
    let deadline = loop.now + Self.period
    while isWriting || exportsUnended > 0 && loop.now < deadline { await loop.sleep(milliseconds: 10) }
    await write()
    if let writing { loop.cancel(writing) }
    writing = nil
    if unwrittenCount > 0 { log(.error, "audit_entries_lost", ["count": String(unwrittenCount)]) }
  }

  private func tell(_ entry: AuditEntry, of app: AppID, _ level: Log.Level) {
    log(
      level, "audit",
      [
        "app": app.rawValue, "began_at": entry.beganAt.rfc3339, "query": entry.query ?? "",
        "request_digest": entry.requestDigest?.description ?? "", "before_digest": entry.before?.description ?? "",
        "after_digest": entry.after?.description ?? "", "operation": entry.operation, "outcome": entry.outcome.rawValue,
        "key": entry.key ?? "", "address": entry.address ?? "",
        "object": entry.object ?? "", "created_id": entry.created ?? "",
        "status": entry.status.map(String.init) ?? "", "code": entry.code ?? "", "request_id": entry.requestID ?? "",
      ])
  }
}

extension String {
  /// The first so many bytes.
  fileprivate func bounded(_ bytes: Int) -> String {
    utf8.count <= bytes ? self : String(decoding: utf8.prefix(bytes), as: UTF8.self)
  }
}

extension AuditEntry {
  fileprivate mutating func finish(with response: HTTPServerResponse) {
    outcome = .done
    status = response.status
    // Other answers have the object that was there before.
    created = [201, 202].contains(response.status) ? response.createdID : nil
  }

  fileprivate mutating func finish(with problem: Problem) {
    outcome = problem.code.status < 500 ? .refused : .failed
    status = problem.code.status
    code = problem.code.rawValue
    created = problem.id?.description
  }
}

extension HTTPServerResponse {
  private static let idStart = Array(#"{"id":""#.utf8)

  /// The id that a JSON answer begins with, or else the last step of `location`.
  fileprivate var createdID: String? {
    if let location = headers.first(where: { $0.name == "location" })?.value {
      // By bytes: each send comes here.
      let steps = Array(location.utf8)
      let start = steps.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
      return String(decoding: steps[start...], as: UTF8.self)
    }
    guard case .whole(let bytes) = body, bytes.starts(with: Self.idStart) else { return nil }
    let rest = bytes[Self.idStart.count...]
    guard let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
    return String(decoding: rest[..<end], as: UTF8.self)
  }

  fileprivate var digest: AuditDigest? {
    guard case .whole(let bytes) = body, !bytes.isEmpty else { return nil }
    return AuditDigest(sha256: Digest.sha256(bytes))
  }
}
