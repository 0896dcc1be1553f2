import CCurl
package import Domain
import Glibc
package import Loop

/// HTTP/1.1 by libcurl's multi interface on the loop, for OAuth, OneSignal and webhooks. Keeps connections; follows no
/// redirect; uses no proxy.
///
/// Belongs to its loop. A request with a body is sent once: where libcurl would repeat it, because the peer has closed a
/// kept connection without an answer, it fails as processed. A request without a body may be repeated by libcurl.
package final class HTTPClient {
  private let loop: EventLoop
  private let settings: HTTPClientSettings
  private var multi: UnsafeMutableRawPointer?
  private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
  private var spare: [UnsafeMutableRawPointer] = []
  private var timer: Timer?

  private static let maximumSpare = 64
  private static let library: Void = {
    // A write to a connection that the peer has closed must be an error, not the end of the process.
    _ = signal(SIGPIPE, SIG_IGN)
    precondition(curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, "libcurl does not start")
  }()

  /// Starts libcurl on first use, and makes SIGPIPE be ignored by the whole process.
  package init(loop: EventLoop, settings: HTTPClientSettings) {
    _ = Self.library
    self.loop = loop
    self.settings = settings
    multi = curl_multi_init()
    precondition(multi != nil, "no memory for libcurl")
    fanfare_curl_multi_set(multi, CURLMOPT_MAX_HOST_CONNECTIONS, settings.connectionsPerHost)
    fanfare_curl_multi_set(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_NOTHING))
    fanfare_curl_multi_callbacks(
      multi,
      { _, socket, change, client, known in
        HTTPClient.from(client).watch(socket, change, isNew: known == nil)
        return 0
      },
      { _, milliseconds, client in
        HTTPClient.from(client).setTimer(milliseconds)
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { close() }

  private static func from(_ context: UnsafeMutableRawPointer?) -> HTTPClient {
    Unmanaged<HTTPClient>.fromOpaque(context!).takeUnretainedValue()
  }

  // MARK: Sending

  /// `done` is called once, on the loop, never from inside `send`. `receive` takes the body of a success as it comes, on the
  /// loop; the answer then has none, and no limit holds for it. False ends the answer there, and its connection.
  package func send(
    _ request: HTTPClientRequest, receive: (([UInt8]) -> Bool)? = nil,
    _ done: @escaping (Result<ProviderAnswer, HTTPClientFailure>) -> Void
  ) {
    guard let multi else { return fail("the client is closed", done) }
    if let fault = request.fault { return fail(fault, isOfRequest: true, done) }
    guard let easy = spare.popLast() ?? curl_easy_init() else { return fail("no memory for a request", done) }
    let transfer = Transfer(easy: easy, settings: settings, receive: receive, done: done)
    transfer.prepare(request, settings)
    transfers[easy] = transfer
    let code = curl_multi_add_handle(multi, easy)
    precondition(code == CURLM_OK, "libcurl refuses a handle: \(String(cString: curl_multi_strerror(code)))")
  }

  /// The same, for a task on the loop. Cancelling the task does not end the request.
  package func send(
    _ request: HTTPClientRequest, receive: (([UInt8]) -> Bool)? = nil
  ) async throws(HTTPClientFailure) -> ProviderAnswer {
    let result: Result<ProviderAnswer, HTTPClientFailure> = await withUnsafeContinuation { waiter in
      send(request, receive: receive) { waiter.resume(returning: $0) }
    }
    return try result.get()
  }

  private func fail(
    _ reason: String, isOfRequest: Bool = false,
    _ done: @escaping (Result<ProviderAnswer, HTTPClientFailure>) -> Void
  ) {
    let failure = HTTPClientFailure(reason: reason, processed: false, isOfRequest: isOfRequest)
    loop.after(milliseconds: 0) { done(.failure(failure)) }
  }

  /// Fails what is at work, then frees libcurl's handles. Nothing may be sent after it.
  package func close() {
    guard let multi else { return }
    let unfinished = transfers
    transfers = [:]
    let failures = unfinished.values.map { ($0, $0.failure("the client was closed")) }
    for easy in unfinished.keys {
      curl_multi_remove_handle(multi, easy)
      curl_easy_cleanup(easy)
    }
    for easy in spare { curl_easy_cleanup(easy) }
    spare = []
    curl_multi_cleanup(multi)
    self.multi = nil
    setTimer(-1)
    for (transfer, failure) in failures { transfer.done(.failure(failure)) }
  }

  // MARK: libcurl's wishes

  private func watch(_ socket: Int32, _ change: Int32, isNew: Bool) {
    // A descriptor that libcurl closed without a word may come back as a new one.
    if isNew || change == CURL_POLL_REMOVE { loop.unwatch(socket) }
    guard change != CURL_POLL_REMOVE, let multi else { return }
    if isNew { curl_multi_assign(multi, socket, multi) }
    var interests: Interests = []
    if change & CURL_POLL_IN != 0 { interests.insert(.readable) }
    if change & CURL_POLL_OUT != 0 { interests.insert(.writable) }
    loop.watch(socket, interests) { [unowned self] readiness in
      var events: Int32 = 0
      if readiness.readable { events |= CURL_CSELECT_IN }
      if readiness.writable { events |= CURL_CSELECT_OUT }
      if readiness.failed { events |= CURL_CSELECT_ERR }
      act(socket, events)
    }
  }

  private func setTimer(_ milliseconds: Int) {
    if let timer { loop.cancel(timer) }
    timer = nil
    guard milliseconds >= 0 else { return }
    timer = loop.after(milliseconds: Int64(milliseconds)) { [unowned self] in
      timer = nil
      act(CURL_SOCKET_TIMEOUT, 0)
    }
  }

  /// Only from the loop's own calls: libcurl must not be called from inside its callbacks.
  private func act(_ socket: Int32, _ events: Int32) {
    guard let multi else { return }
    var running: Int32 = 0
    curl_multi_socket_action(multi, socket, events, &running)
    var code = CURLE_OK
    var finished: [(Transfer, Result<ProviderAnswer, HTTPClientFailure>)] = []
    while let easy = fanfare_curl_next_done(multi, &code) {
      guard let transfer = transfers.removeValue(forKey: easy) else { preconditionFailure("an unknown transfer ended") }
      finished.append((transfer, transfer.result(code)))
      curl_multi_remove_handle(multi, easy)
      // Forgets the body, and the pointer to the transfer.
      curl_easy_reset(easy)
      if spare.count < Self.maximumSpare { spare.append(easy) } else { curl_easy_cleanup(easy) }
    }
    for (transfer, result) in finished { transfer.done(result) }
  }
}
