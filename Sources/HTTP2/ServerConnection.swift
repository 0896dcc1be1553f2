import CNGHTTP2
import Domain
import Loop
import TLS

/// One connection of a server. Lives until its `closed` event.
final class ServerConnection {
  enum Event {
    case opened(UInt64)
    case received(HTTP2ServerRequest)
    case abandoned(HTTP2ServerStream)
    /// The last one. `wasOpen`: `opened` came before.
    case closed(UInt64, wasOpen: Bool)
  }

  struct Stream {
    var method = ""
    var path = ""
    var authority = ""
    var headers: [Header] = []
    var headerBytes = 0
    var body: [UInt8] = []
    var answer: [UInt8] = []
    var answerSent = 0
    /// Bytes that follow `answer`, made while they are sent.
    var filler = 0
    /// The request is whole and was handed over.
    var isReceived = false
    /// Answered, or dropped by this side: its end is no news.
    var isSettled = false
  }

  let number: UInt64
  let settings: HTTP2ServerSettings
  var streams: [Int32: Stream] = [:]
  var events: [Event] = []
  var session: OpaquePointer?
  private(set) var isOpen = false
  private(set) var clientCertificate: HTTP2ClientCertificate?
  /// Raw frames that go out when nghttp2 has nothing to say, and the flood behind which it says nothing more.
  private var raw: [UInt8] = []
  private var flood: HostileFrames.HeaderFlood?
  private var isFlooding = false

  private let loop: EventLoop
  private let channel: SecureChannel
  private let happened: (Event) -> Void
  private var scratch = HeaderScratch()
  private var isClosed = false
  private var delivering = false
  private var flushScheduled = false
  private var handshakeTimer: Timer?
  private static let handshakeTimeout: Int64 = 10_000

  init(
    number: UInt64, loop: EventLoop, channel: SecureChannel, settings: HTTP2ServerSettings,
    happened: @escaping (Event) -> Void
  ) {
    self.number = number
    self.loop = loop
    self.channel = channel
    self.settings = settings
    self.happened = happened
  }

  deinit {
    channel.close()
    if let session { nghttp2_session_del(session) }
  }

  func start() {
    handshakeTimer = loop.after(milliseconds: Self.handshakeTimeout) { [weak self] in self?.close() }
    channel.start(owner: self)
  }

  // MARK: For the server

  func respond(_ stream: Int32, status: Int, headers: [Header], body: [UInt8], filler: Int = 0) {
    guard !isClosed, streams[stream]?.isReceived == true, streams[stream]?.isSettled == false else { return }
    streams[stream]?.isSettled = true
    streams[stream]?.answer = body
    streams[stream]?.filler = filler
    scratch.removeAll()
    scratch.append(":status", String(status))
    for header in headers { scratch.append(header) }
    ServerCallbacks.respond(&scratch, hasBody: !body.isEmpty || filler > 0, on: stream, of: session)
    scheduleFlush()
  }

  func floodHeaders(_ stream: Int32, bytes: Int?) {
    guard !isClosed, flood == nil else { return }
    streams[stream]?.isSettled = true
    flood = HostileFrames.HeaderFlood(stream: stream, bytes: bytes)
    scheduleFlush()
  }

  func respondMalformed(_ stream: Int32) {
    guard !isClosed else { return }
    streams[stream]?.isSettled = true
    raw += HostileFrames.badHPACK(stream)
    scheduleFlush()
  }

  func reset(_ stream: Int32, code: UInt32) {
    guard !isClosed, streams[stream] != nil else { return }
    streams[stream]?.isSettled = true
    nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code)
    scheduleFlush()
  }

  func goaway(code: UInt32, debug: [UInt8], lastStream: Int32?) {
    guard !isClosed, let session else { return }
    var last = nghttp2_session_get_last_proc_stream_id(session)
    if let lastStream { last = min(last, max(0, lastStream)) }
    // Only a client's ids, which are odd, or 0 may stand there.
    if last > 0, last % 2 == 0 { last -= 1 }
    for stream in streams.keys where stream > last { streams[stream]?.isSettled = true }
    nghttp2_submit_goaway(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, code, debug, debug.count)
    scheduleFlush()
  }

  func setMaximumConcurrentStreams(_ limit: Int) {
    guard !isClosed, let session else { return }
    ServerCallbacks.announce(limit, on: session)
    scheduleFlush()
  }

  func stall(_ stalled: Bool) {
    if !isClosed { channel.stall(stalled) }
  }

  func close() {
    guard !isClosed else { return }
    channel.close()
    end()
  }

  // MARK: Turns

  private func scheduleFlush() {
    guard !flushScheduled else { return }
    flushScheduled = true
    loop.atEndOfTurn { [weak self] in
      guard let self else { return }
      flushScheduled = false
      guard !isClosed else { return }
      channel.flush()
      settle()
    }
  }

  private func settle() {
    deliver()
    guard !isClosed, let session else { return }
    if nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0, !channel.hasOutput {
      channel.finish()
      end()
    }
  }

  private func deliver() {
    guard !delivering else { return }
    delivering = true
    var index = 0
    while index < events.count {
      let event = events[index]
      index += 1
      happened(event)
    }
    events.removeAll(keepingCapacity: true)
    delivering = false
  }

  private func end() {
    guard !isClosed else { return }
    isClosed = true
    if let handshakeTimer { loop.cancel(handshakeTimer) }
    for (id, stream) in streams.sorted(by: { $0.key < $1.key }) where stream.isReceived && !stream.isSettled {
      events.append(.abandoned(HTTP2ServerStream(connection: number, stream: id)))
    }
    streams = [:]
    events.append(.closed(number, wasOpen: isOpen))
    isOpen = false
    loop.atEndOfTurn { [self] in
      if let session { nghttp2_session_del(session) }
      session = nil
      deliver()
    }
  }
}

extension ServerConnection: SecureChannelOwner {
  func channelOpened(_ channel: SecureChannel) {
    if let handshakeTimer { loop.cancel(handshakeTimer) }
    clientCertificate = channel.peer.map {
      HTTP2ClientCertificate(certificate: $0.certificate, isTrusted: $0.isTrusted)
    }
    session = ServerCallbacks.makeSession(for: self)
    isOpen = true
    events.append(.opened(number))
    scheduleFlush()
  }

  func channelReceived(_ bytes: UnsafeRawBufferPointer) {
    guard !isClosed, let session else { return }
    let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    if nghttp2_session_mem_recv(session, start, bytes.count) < 0 { close() }
  }

  func channelSettled() {
    settle()
    guard !isClosed, let session, channel.canWrite else { return }
    if nghttp2_session_want_write(session) != 0 || flood != nil || !raw.isEmpty { scheduleFlush() }
  }

  func channelFills() {
    guard let session else { return }
    while channel.wantsMore, !isFlooding {
      var frame: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &frame)
      if count <= 0 { break }
      channel.append(UnsafeRawBufferPointer(start: frame, count: count))
    }
    fillRaw()
  }

  /// Between two frames of nghttp2, which gives whole ones; a header block must not be interrupted.
  private func fillRaw() {
    if !raw.isEmpty, channel.wantsMore {
      raw.withUnsafeBytes { channel.append($0) }
      raw = []
    }
    while flood != nil, channel.wantsMore {
      guard let frame = flood?.next() else {
        flood = nil
        isFlooding = false
        return
      }
      isFlooding = true
      frame.withUnsafeBytes { channel.append($0) }
    }
  }

  func channelEnded(_ reason: String?) { end() }
}
