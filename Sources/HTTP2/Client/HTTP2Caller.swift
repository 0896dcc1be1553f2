package import Domain
package import Loop
package import TLS

/// A request that got no answer. `processed`: false if the peer surely did nothing with it.
package struct HTTP2CallFailure: Error, Hashable, Sendable {
  package var reason: String
  package var processed: Bool
  /// `reason`: for logs, from the connection.
  package init(reason: String, processed: Bool) {
    self.reason = reason
    self.processed = processed
  }
}

/// Few requests, now and then, to one origin: one connection, opened on demand and kept while it lasts. Loop-owned.
package final class HTTP2Caller: HTTP2ClientDelegate {
  private typealias Waiter = UnsafeContinuation<Result<ProviderAnswer, HTTP2CallFailure>, Never>
  private let loop: EventLoop
  private let origin: Origin
  private let tls: TLSContext
  private let settings: HTTP2Settings
  private var connection: HTTP2ClientConnection?
  /// Opens nothing any more, but has requests at work.
  private var leaving: [ObjectIdentifier: HTTP2ClientConnection] = [:]
  private var waiting: [(request: ProviderRequest, waiter: Waiter)] = []
  private var atWork: [UInt64: Waiter] = [:]
  private var lastTag: UInt64 = 0

  /// Opens no connection before the first `send`.
  package init(loop: EventLoop, origin: Origin, tls: TLSContext, settings: HTTP2Settings) {
    self.loop = loop
    self.origin = origin
    self.tls = tls
    self.settings = settings
  }

  /// One answer, or why there is none; never tried twice.
  package func send(_ request: ProviderRequest) async throws(HTTP2CallFailure) -> ProviderAnswer {
    let result = await withUnsafeContinuation { (waiter: Waiter) in
      waiting.append((request, waiter))
      pump()
    }
    return try result.get()
  }

  /// The next request goes over a new connection; those at work finish.
  package func renew() {
    guard let old = connection else { return }
    connection = nil
    leaving[ObjectIdentifier(old)] = old
    // Not from inside one of its calls.
    loop.atEndOfTurn { old.drain() }
    // What waited for the old one.
    pump()
  }

  /// What waits or is at work fails.
  package func close() {
    let unsent = waiting
    waiting = []
    for (_, waiter) in unsent { waiter.resume(returning: .failure(.init(reason: "closed", processed: false))) }
    connection?.close()
    for old in leaving.values { old.close() }
  }

  private func pump() {
    guard !waiting.isEmpty else { return }
    guard let connection else {
      let opened = HTTP2ClientConnection(loop: loop, origin: origin, tls: tls, settings: settings)
      opened.delegate = self
      connection = opened
      return
    }
    while connection.openable > 0, !waiting.isEmpty {
      let next = waiting.removeFirst()
      lastTag += 1
      atWork[lastTag] = next.waiter
      connection.submit(next.request, tag: lastTag)
    }
  }

  // MARK: What connections tell

  package func connected(_ connection: HTTP2ClientConnection) { pump() }
  package func capacityChanged(_ connection: HTTP2ClientConnection) { pump() }

  package func answered(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ answer: ProviderAnswer) {
    atWork.removeValue(forKey: tag)?.resume(returning: .success(answer))
    pump()
  }

  /// Ends the request's `send`. All failures but `notProcessed` and `unsendable` may have reached the peer.
  package func failed(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ failure: StreamFailure) {
    let told: HTTP2CallFailure =
      switch failure {
      case .notProcessed(let reason), .unsendable(let reason): .init(reason: reason, processed: false)
      case .unknown(let reason), .lost(let reason, _), .silent(let reason): .init(reason: reason, processed: true)
      }
    atWork.removeValue(forKey: tag)?.resume(returning: .failure(told))
  }

  /// Requests at work finish here; the next one opens another connection.
  package func draining(_ connection: HTTP2ClientConnection, reason: String?) {
    guard connection === self.connection else { return }
    self.connection = nil
    leaving[ObjectIdentifier(connection)] = connection
    pump()
  }

  /// Where the connection could not be opened, what waits fails; else what waits opens another one.
  package func closed(_ connection: HTTP2ClientConnection, _ end: ConnectionEnd) {
    leaving[ObjectIdentifier(connection)] = nil
    guard connection === self.connection else { return }
    self.connection = nil
    guard case .unreachable(let reason) = end else { return pump() }
    let unsent = waiting
    waiting = []
    for (_, waiter) in unsent { waiter.resume(returning: .failure(.init(reason: reason, processed: false))) }
  }
}
