import Domain
import HTTPServer
import JSON
import Loop
import Store

/// Requests that wait for the outcome of the message that they have sent. The message is stored before: whatever happens
/// here, it is accepted. Belongs to the loop.
final class OutcomeWaits {
  /// A message to more is not waited for.
  static let mostTargets = 100
  /// Requests that may wait at a time: of this service, and of one key.
  private static let most = 200
  private static let mostOfKey = 20
  /// Milliseconds between two looks at a message.
  private static let firstGap: Int64 = 50
  private static let longestGap: Int64 = 250

  /// One request that waits. It is over when the message is completed, its time has passed or the service stops, by
  /// whichever comes first.
  private final class Waiter {
    private var continuation: UnsafeContinuation<MessageReport?, Never>?

    init(_ continuation: UnsafeContinuation<MessageReport?, Never>) { self.continuation = continuation }

    var isOver: Bool { continuation == nil }

    func end(_ report: MessageReport?) {
      continuation?.resume(returning: report)
      continuation = nil
    }
  }

  private let loop: EventLoop
  private let store: Store
  private var waiters: [ObjectIdentifier: Waiter] = [:]
  private var waiting = 0
  private var waitingByKey: [String: Int] = [:]
  private var isStopping = false

  init(loop: EventLoop, store: Store) {
    (self.loop, self.store) = (loop, store)
  }

  /// The answer to a request that has sent this and is willing to wait; nil: the one that it has anyhow.
  func answer(_ sent: AcceptedMessage, _ wait: WantedWait, _ call: Call) async -> HTTPServerResponse? {
    // Of the first two nothing more will be known.
    guard sent.targets != nil, sent.state != .cancelled, !isStopping else { return nil }
    guard sent.mayBeAwaited else { return notWaited(sent, Notice.ofWaitInVain, call) }
    let waitingOfKey = waitingByKey[call.keyID] ?? 0
    guard waiting < Self.most, waitingOfKey < Self.mostOfKey else {
      let detail =
        "the answer does not wait: \(Self.most) requests of a process and \(Self.mostOfKey) of a key may wait at a time. "
        + "Read the outcome with GET /v1/messages/{id}"
      return notWaited(sent, Notice(pointer: "", code: Notice.notWaited, detail: detail), call)
    }
    waiting += 1
    waitingByKey[call.keyID] = waitingOfKey + 1
    defer { leave(call.keyID) }
    guard let report = await report(sent, until: deadline(wait, call), call.app) else { return nil }
    return Answer.ended(sent, report, followed: wait.isPreference ? wait.seconds : nil)
  }

  /// All who wait are answered now, and nobody waits any more.
  func stop() {
    isStopping = true
    for waiter in waiters.values { waiter.end(nil) }
  }

  private func leave(_ key: String) {
    waiting -= 1
    let left = (waitingByKey[key] ?? 1) - 1
    waitingByKey[key] = left > 0 ? left : nil
  }

  private func notWaited(_ sent: AcceptedMessage, _ notice: Notice, _ call: Call) -> HTTPServerResponse {
    var sent = sent
    sent.warnings += call.notices.told([notice])
    return Answer.accepted(sent)
  }

  /// The time counts from the arrival of the request.
  private func deadline(_ wait: WantedWait, _ call: Call) -> Instant {
    let whole = Int64(wait.seconds) * 1_000
    return loop.now + (whole - min(max(0, loop.wallNow - call.now), whole))
  }

  /// Of a completed message; nil: it was not completed in time.
  private func report(_ sent: AcceptedMessage, until deadline: Instant, _ app: AppID) async -> MessageReport? {
    var timer: Timer?
    var number: ObjectIdentifier?
    let report = await withUnsafeContinuation { (continuation: UnsafeContinuation<MessageReport?, Never>) in
      let waiter = Waiter(continuation)
      let name = ObjectIdentifier(waiter)
      waiters[name] = waiter
      number = name
      // Beside the looks: one that Redis does not answer must not hold up the answer.
      timer = loop.after(milliseconds: max(0, deadline - loop.now)) { waiter.end(nil) }
      loop.spawn { [self] in await look(at: sent, app, for: waiter) }
    }
    if let timer { loop.cancel(timer) }
    if let number { waiters[number] = nil }
    return report
  }

  private func look(at sent: AcceptedMessage, _ app: AppID, for waiter: Waiter) async {
    var gap = Self.firstGap
    if sent.state != .completed { await loop.sleep(milliseconds: gap) }
    while !waiter.isOver {
      // The message is stored: that Redis does not answer now is no fault of this request.
      guard let report = try? await store.reports.report(sent.id, app: app), report.state != .cancelled else {
        return waiter.end(nil)
      }
      if report.state == .completed { return waiter.end(report) }
      gap = min(2 * gap, Self.longestGap)
      await loop.sleep(milliseconds: gap)
    }
  }
}

extension Notice {
  static let notWaited = "not_waited"

  /// `wait` with what no request waits for.
  static let ofWaitInVain = Notice(
    pointer: "", code: notWaited,
    detail: "the answer does not wait: `wait` is for messages to at most \(OutcomeWaits.mostTargets) targets that "
      + "start at once. Read the outcome with GET /v1/messages/{id}")

  static let ofWaitInDryRun = Notice(
    pointer: "", code: notWaited, detail: "`wait` has no effect on a dry run: nothing is sent")
}

extension Answer {
  /// Of a message that was completed while its sender waited. `followed`: the seconds that its header preferred.
  static func ended(_ message: AcceptedMessage, _ report: MessageReport, followed: Int?) -> HTTPServerResponse {
    var message = message
    (message.state, message.targets) = (report.state, report.total)
    var headers = headers(of: message)
    if let followed { headers.append(Header("preference-applied", "wait=\(followed)")) }
    return json(200, headers: headers) { writer in
      message.write(to: &writer)
      writer.key("report")
      report.write(to: &writer)
    }
  }
}
