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
  /// HTTP/2's state; nil before the protocol is known, and for HTTP/1.1.
  var session: OpaquePointer?
  /// HTTP/1.1's state; nil before the protocol is known, and for HTTP/2.
  private var http1: HTTP1Machine?
  /// What came of a client without ALPN, while it may still become HTTP/2's preface.
  private var opening: [UInt8] = []
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
    if http1 != nil {
      streams[stream] = nil
      http1?.respond(status: status, headers: headers, body: body, filler: filler)
      return scheduleFlush()
    }
    scratch.removeAll()
    scratch.append(":status", String(status))
    for header in headers { scratch.append(header) }
    ServerCallbacks.respond(&scratch, hasBody: !body.isEmpty || filler > 0, on: stream, of: session)
    scheduleFlush()
  }

  func floodHeaders(_ stream: Int32, bytes: Int?) {
    guard !isClosed, flood == nil else { return }
    streams[stream]?.isSettled = true
    if http1 != nil {
      http1?.floodHeaders(bytes: bytes)
      return scheduleFlush()
    }
    flood = HostileFrames.HeaderFlood(stream: stream, bytes: bytes)
    scheduleFlush()
  }

  func respondMalformed(_ stream: Int32) {
    guard !isClosed else { return }
    streams[stream]?.isSettled = true
    if http1 != nil {
      http1?.respondMalformed()
      return scheduleFlush()
    }
    raw += HostileFrames.badHPACK(stream)
    scheduleFlush()
  }

  func reset(_ stream: Int32, code: UInt32) {
    guard !isClosed, streams[stream] != nil else { return }
    streams[stream]?.isSettled = true
    if http1 != nil {
      channel.reset()
      return end()
    }
    nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, code)
    scheduleFlush()
  }

  func goaway(code: UInt32, debug: [UInt8], lastStream: Int32?) {
    if !isClosed, let http1 {
      let stays = http1.isAtWork && lastStream ?? http1.number >= http1.number
      if !stays { streams[http1.number]?.isSettled = true }
      if stays { self.http1?.end() } else { self.http1?.drop() }
      return scheduleFlush()
    }
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
    if let http1, !isClosed, http1.isOver, !channel.hasOutput {
      channel.finish()
      end()
    }
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
    isOpen = true
    events.append(.opened(number))
    switch channel.agreedProtocol {
    case nil where settings.speaksHTTP1: break
    case "http/1.1": http1 = HTTP1Machine(settings: settings)
    default: session = ServerCallbacks.makeSession(for: self)
    }
    scheduleFlush()
  }

  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  /// Without ALPN the first bytes tell: HTTP/2 begins with its preface.
  private func recognize(_ bytes: UnsafeRawBufferPointer) {
    opening += bytes
    if opening.count < Self.preface.count, Self.preface.starts(with: opening) { return }
    if opening.starts(with: Self.preface) {
      session = ServerCallbacks.makeSession(for: self)
    } else {
      http1 = HTTP1Machine(settings: settings)
    }
    let first = opening
    opening = []
    first.withUnsafeBytes { channelReceived($0) }
  }

  /// HTTP/1.1 has one request at a time: the next one comes when the one before is answered.
  private func takeRequest() {
    guard let request = http1?.next(on: number) else { return }
    streams[request.stream.stream] = Stream(isReceived: true)
    events.append(.received(request))
  }

  func channelReceived(_ bytes: UnsafeRawBufferPointer) {
    guard !isClosed else { return }
    if http1 != nil {
      if http1?.receive(bytes) == false { return close() }
      takeRequest()
      if http1?.hasOutput == true { scheduleFlush() }
      return
    }
    guard let session else { return recognize(bytes) }
    let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    if nghttp2_session_mem_recv(session, start, bytes.count) < 0 { close() }
  }

  func channelSettled() {
    settle()
    guard !isClosed, channel.canWrite else { return }
    if http1?.hasOutput == true { return scheduleFlush() }
    guard let session else { return }
    if nghttp2_session_want_write(session) != 0 || flood != nil || !raw.isEmpty { scheduleFlush() }
  }

  func channelFills() {
    if http1 != nil { return fillHTTP1() }
    guard let session else { return }
    while channel.wantsMore, !isFlooding {
      var frame: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &frame)
      if count <= 0 { break }
      channel.append(UnsafeRawBufferPointer(start: frame, count: count))
    }
    fillRaw()
  }

  private static let pieceOfBody = 16 * 1024

  private func fillHTTP1() {
    while channel.wantsMore {
      guard let piece = http1?.take(Self.pieceOfBody), !piece.isEmpty else { break }
      piece.withUnsafeBytes { channel.append($0) }
    }
    takeRequest()
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
