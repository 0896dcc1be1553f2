import Domain

@testable import HTTP2
@testable import Loop

extension FuzzTarget {
  /// What a provider's server sends on a connection that has three requests at work: the first byte says in how large pieces.
  /// Each request is answered or fails once, and the end is told once.
  static let http2 = FuzzTarget("http2") { bytes in
    var input = FuzzInput(bytes)
    let size = Int(input.byte()) + 1
    let peer = FuzzPeer()
    peer.begin(requests: 3)
    while !input.isEmpty { peer.send((0..<size).compactMap { _ in input.isEmpty ? nil : input.byte() }) }
    peer.end()
  }
}

/// The other end of a connection without a socket. Its loop runs a turn at a time, on the caller's thread.
private final class FuzzPeer: HTTP2ClientDelegate {
  private let loop = EventLoop(name: "fuzz")
  private let connection: HTTP2ClientConnection
  private var open: Set<UInt64> = []
  private var ends = 0
  /// Length 0, type 4, no flags, stream 0.
  private static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

  init() {
    // Each run is one turn.
    loop.stop()
    loop.run()
    var settings = HTTP2Settings()
    (settings.maximumAnswerBody, settings.maximumHeaderBytes) = (4_096, 4_096)
    connection = HTTP2ClientConnection(
      loop: loop, undialed: Origin(host: "push.example.com", port: 443), settings: settings)
    connection.session = ClientCallbacks.makeSession(for: connection)
    connection.delegate = self
  }

  func begin(requests: UInt64) {
    turn()
    send(Self.settings)
    for tag in 1...requests {
      demand(connection.openable > 0, "the connection is open")
      open.insert(tag)
      connection.submit(
        ProviderRequest(path: "/3/device/\(tag)", headers: [Header("te", "x")], body: [1, 2]), tag: tag)
    }
    turn()
  }

  func send(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { connection.channelReceived($0) }
    connection.channelSettled()
    turn()
  }

  func end() {
    connection.channelEnded(nil)
    turn()
    demand(open.isEmpty, "each request has ended: \(open)")
    demand(ends == 1, "the end is told once")
  }

  private func turn() {
    while connection.nextFrame() != nil {}
    loop.run()
  }

  private func settle(_ tag: UInt64) { demand(open.remove(tag) != nil, "the request \(tag) ends once") }

  func connected(_ connection: HTTP2ClientConnection) {}
  func answered(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ answer: ProviderAnswer) {
    demand(answer.body.count <= 4_096, "a body is bounded")
    settle(tag)
  }
  func failed(_ connection: HTTP2ClientConnection, _ tag: UInt64, _ failure: StreamFailure) { settle(tag) }
  func capacityChanged(_ connection: HTTP2ClientConnection) {}
  func draining(_ connection: HTTP2ClientConnection, reason: String?) {
    demand((reason?.utf8.count ?? 0) <= 1_000, "a reason is short")
  }
  func closed(_ connection: HTTP2ClientConnection, _ reason: ConnectionEnd) { ends += 1 }
}
