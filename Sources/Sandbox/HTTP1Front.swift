import Domain
import HTTPServer
import Loop

/// The HTTP/1.1 ports, of OneSignal and of what gives out access tokens: asks the vendor, then the rules, plays what they say, and
/// records it member by member.
final class HTTP1Front {
  private let stage: Stage
  private let oneSignal: OneSignalVendor
  private let oauth: OAuthDesk
  private var requests: UInt64 = 0
  private var atWork = 0
  /// Requests that wait for their delay, or for ever; they end with the sandbox.
  private var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
  private var stopped = false

  init(stage: Stage, oneSignal: OneSignalVendor, oauth: OAuthDesk) {
    self.stage = stage
    self.oneSignal = oneSignal
    self.oauth = oauth
  }

  /// Ends what waits, so that the server can stop.
  func stop() {
    stopped = true
    for waiter in waiting.values { waiter.resume() }
    waiting = [:]
  }

  func handle(_ request: HTTPServerRequest) async -> HTTPServerResponse {
    let isToken = oauth.takes(request.path)
    return await counted(isToken ? .oauth : .oneSignal) { number in
      guard isToken else { return await notification(request, number) }
      return await token(oauth.examine(request, now: stage.loop.wallNow), number)
    }
  }

  /// Requests to the metadata server's port.
  func handleMetadata(_ request: HTTPServerRequest) async -> HTTPServerResponse {
    await counted(.oauth) { number in
      await token(oauth.examineMetadata(request, now: stage.loop.wallNow), number)
    }
  }

  private func counted(
    _ provider: SandboxProvider, _ handle: (UInt64) async -> HTTPServerResponse
  ) async -> HTTPServerResponse {
    requests += 1
    atWork += 1
    defer { atWork -= 1 }
    stage.statistics[provider].streamsMaximum = max(stage.statistics[provider].streamsMaximum, atWork)
    return await handle(requests)
  }

  // MARK: Tokens

  private func token(_ examination: Examination, _ number: UInt64) async -> HTTPServerResponse {
    let rule = examination.valid ? stage.rules.draw(.oauth, token: examination.token) : nil
    let reply = rule?.reply.map { TokenEndpoint.answer($0, to: examination) }
    return await play(rule, number, answer: reply ?? examination.answer) { answered in
      // The assertion is a credential: only its digest is kept.
      stage.record(
        .oauth, connection: 0, request: number, examination, body: [], answered: answered, fault: rule?.fault,
        accepted: false)
    }
  }

  // MARK: Notifications

  private func notification(_ request: HTTPServerRequest, _ number: UInt64) async -> HTTPServerResponse {
    let now = stage.loop.wallNow
    var examination = oneSignal.examine(request, now: now)
    let fresh = examination.base.valid && !examination.replayed
    let rule =
      examination.base.valid
      ? stage.rules.draw(.oneSignal, members: examination.members, key: examination.base.id) : nil
    let refuses = rule.map { Self.refuses($0, examination.base.answer) } ?? false
    let processed = examination.base.valid && !(refuses && rule?.when == .before)
    var picked: (rule: Rule, members: [String])?
    if processed, fresh {
      picked = stage.rules.pick(.oneSignal, members: examination.members)
      if let picked {
        examination.base.answer = oneSignal.partial(
          picked.rule.reply?.reason ?? "", picked.members, examination)
      }
    }
    if processed { oneSignal.processed(examination, now: now) }
    let reply = rule?.reply.map { oneSignal.answer($0, to: examination) }
    return await play(rule, number, answer: reply ?? examination.base.answer) { answered in
      record(
        request, number, examination, answered: answered, fault: rule?.fault, accepted: processed, picked: picked)
    }
  }

  /// True if the rule keeps the request from being processed, unless it comes after processing.
  private static func refuses(_ rule: Rule, _ usual: VendorAnswer) -> Bool {
    switch rule.action {
    case .streams, .certificate, .handshake: return false
    case nil: return rule.reply.map { $0.status >= 300 || $0.reason == OneSignalVendor.notSubscribed } ?? false
    default: return true
    }
  }

  private func record(
    _ request: HTTPServerRequest, _ number: UInt64, _ examination: OneSignalExamination, answered: VendorAnswer?,
    fault: FaultKind?, accepted: Bool, picked: (rule: Rule, members: [String])?
  ) -> UInt64 {
    let out = Set(picked?.members ?? [])
    var last: UInt64 = 0
    var duplicate = false
    for member in examination.members.isEmpty ? [""] : examination.members {
      var entry = examination.base
      entry.token = member
      var answer = answered
      if out.contains(member) { answer?.reason = picked?.rule.reply?.reason ?? "" }
      let appended = stage.append(
        .oneSignal, connection: 0, request: number, entry, body: request.body, answered: answer,
        fault: out.contains(member) ? .reply : fault, accepted: accepted && !out.contains(member))
      last = appended.number
      duplicate = duplicate || appended.duplicate
    }
    var answer = answered
    if let picked { answer?.reason = picked.rule.reply?.reason ?? "" }
    stage.count(
      .oneSignal, answered: answer, fault: fault ?? (picked == nil ? nil : .reply), accepted: accepted,
      duplicate: duplicate)
    return last
  }

  // MARK: Faults

  /// Plays the rule's action or answers; `record` is told what goes out.
  private func play(
    _ rule: Rule?, _ number: UInt64, answer: VendorAnswer, record: (VendorAnswer?) -> UInt64
  ) async -> HTTPServerResponse {
    let delay = rule?.delay ?? 0
    switch rule?.action {
    case nil, .streams:
      _ = record(answer)
      if delay > 0 { await wait(number, milliseconds: delay) }
      return answer.response
    case .stall:
      let answers = rule?.when == .after && delay > 0
      _ = record(answers ? answer : nil)
      await wait(number, milliseconds: delay > 0 ? delay : nil)
      guard answers else { return .withheld }
      return answer.response
    case .close, .goaway, .reset, .headers, .hpack, .expire, .certificate, .handshake:
      _ = record(nil)
      return .withheld
    }
  }

  private func wait(_ number: UInt64, milliseconds: Int64?) async {
    guard !stopped else { return }
    await withCheckedContinuation { waiter in
      waiting[number] = waiter
      guard let milliseconds else { return }
      stage.loop.after(milliseconds: milliseconds) { [weak self] in
        self?.waiting.removeValue(forKey: number)?.resume()
      }
    }
  }
}

extension VendorAnswer {
  private static let fillerPiece = 65_536

  fileprivate var response: HTTPServerResponse {
    guard filler > 0 else { return HTTPServerResponse(status: status, headers: headers, body: body) }
    var left = filler
    return HTTPServerResponse(
      status: status, headers: headers,
      pieces: BodyPieces {
        guard left > 0 else { return nil }
        let count = min(left, Self.fillerPiece)
        left -= count
        return [UInt8](repeating: UInt8(ascii: "x"), count: count)
      })
  }
}
