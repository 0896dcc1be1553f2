import Domain
import HTTP2
import Loop
import TLS

/// One HTTP/2 connection with an async face. On its loop only.
final class VendorClient: HTTP2ClientDelegate {
  enum Reply: Equatable {
    case answer(ProviderAnswer)
    case failed(StreamFailure)

    var status: Int? { if case .answer(let answer) = self { answer.status } else { nil } }
    var body: String? {
      if case .answer(let answer) = self { String(decoding: answer.body, as: UTF8.self) } else { nil }
    }
    func header(_ name: String) -> String? { if case .answer(let answer) = self { answer.header(name) } else { nil } }
  }

  private(set) var farewell: String?
  private(set) var end: ConnectionEnd?
  private(set) var isDraining = false
  private let connection: HTTP2ClientConnection
  private var lastTag: UInt64 = 0
  private var waiting: [UInt64: CheckedContinuation<Reply, Never>] = [:]
  private var watchers: [(condition: (VendorClient) -> Bool, waiter: CheckedContinuation<Void, Never>)] = []

  init(
    loop: EventLoop, port: Int, caFile: String, identity: (chain: [UInt8], key: [UInt8])? = nil,
    connectTimeout: Int64 = 10_000
  ) throws {
    let tls = try TLSContext.client(caFile: caFile, alpn: ["h2"], identity: identity)
    var settings = HTTP2Settings()
    settings.answerTimeout = 5_000
    settings.connectTimeout = connectTimeout
    connection = HTTP2ClientConnection(
      loop: loop, origin: Origin(host: "localhost", port: port), tls: tls, settings: settings)
    connection.delegate = self
  }

  var streamLimit: Int { connection.streamLimit }
  var openable: Int { connection.openable }

  /// Returns when the condition holds; the connection's end ends every wait.
  func wait(until condition: @escaping (VendorClient) -> Bool) async {
    guard !condition(self), end == nil else { return }
    await withCheckedContinuation { watchers.append((condition, $0)) }
  }

  /// Waits for room, sends, and returns with the answer.
  func send(_ request: ProviderRequest) async -> Reply {
    while connection.openable == 0 {
      if let end { return .failed(.notProcessed("\(end)")) }
      if isDraining { return .failed(.notProcessed("draining")) }
      await wait { $0.openable > 0 || $0.isDraining }
    }
    lastTag += 1
    let tag = lastTag
    return await withCheckedContinuation { waiter in
      waiting[tag] = waiter
      connection.submit(request, tag: tag)
    }
  }

  /// Sends all in one turn; the connection must have room.
  func sendAll(_ requests: [ProviderRequest]) async -> [Reply] {
    await wait { $0.openable >= requests.count }
    let tasks = requests.map { request in Box(client: self, request: request) }
    return await withTaskGroup(of: (Int, Reply).self) { group in
      for (place, task) in tasks.enumerated() { group.addTask { (place, await task.client.send(task.request)) } }
      var replies = [Reply?](repeating: nil, count: requests.count)
      for await (place, reply) in group { replies[place] = reply }
      return replies.compactMap { $0 }
    }
  }
  /// Stays on the loop: its tasks inherit the loop as their executor.
  private struct Box: @unchecked Sendable {
    let client: VendorClient
    let request: ProviderRequest
  }

  func close() { connection.close() }

  private func check() {
    let all = watchers
    watchers = []
    for watcher in all {
      if end != nil || watcher.condition(self) { watcher.waiter.resume() } else { watchers.append(watcher) }
    }
  }

  func connected(_ connection: HTTP2ClientConnection) { check() }
  func answered(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ answer: ProviderAnswer) {
    waiting.removeValue(forKey: tag)?.resume(returning: .answer(answer))
    check()
  }
  func failed(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ failure: StreamFailure) {
    waiting.removeValue(forKey: tag)?.resume(returning: .failed(failure))
    check()
  }
  func capacityChanged(_ connection: HTTP2ClientConnection) { check() }
  func draining(_ connection: HTTP2ClientConnection, reason: String?) {
    isDraining = true
    farewell = reason
    check()
  }
  func closed(_ connection: HTTP2ClientConnection, _ reason: ConnectionEnd) {
    end = reason
    check()
  }
}
