import CNGHTTP2
import Domain
import Loop
import TLS

/// One connection of a bare server. What is kept of a request stands in memory outside Swift's, which nghttp2 holds as the
/// stream's user data: no object, no text and no look-up per request. For benchmarks only, where the other end must not cost
/// more than what is measured.
final class BareConnection {
  private struct Request {
    static let room = 256
    var path = 0
    var id = 0
  }

  private let number: UInt64
  private unowned let server: BareServer
  private let loop: EventLoop
  private let channel: SecureChannel
  private var session: OpaquePointer?
  private let streams: Int
  private var flushScheduled = false
  private var isClosed = false
  /// What is being answered, for `read`, and how much of it is sent.
  private var bodies: [Int32: (reply: BareReply, sent: Int)] = [:]

  init(_ server: BareServer, number: UInt64, loop: EventLoop, channel: SecureChannel, streams: Int) {
    self.server = server
    self.number = number
    self.loop = loop
    self.channel = channel
    self.streams = streams
    channel.start(owner: self)
  }

  deinit {
    channel.close()
    if let session { nghttp2_session_del(session) }
  }

  // MARK: Memory of requests

  /// Behind the lengths: the path, at most 192 bytes of it, then the id, at most 64.
  private static func make() -> UnsafeMutableRawPointer {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: MemoryLayout<Request>.size + Request.room, alignment: 16)
    memory.bindMemory(to: Request.self, capacity: 1).initialize(to: Request())
    return memory
  }
  private static let pathRoom = 192
  private static let idRoom = 64

  private static func letters(_ memory: UnsafeMutableRawPointer) -> UnsafeMutablePointer<UInt8> {
    (memory + MemoryLayout<Request>.size).assumingMemoryBound(to: UInt8.self)
  }

  // MARK: Answers

  func respond(_ stream: Int32, _ reply: BareReply) {
    guard !isClosed, let memory = nghttp2_session_get_stream_user_data(session, stream) else { return }
    answer(stream, memory, reply)
    scheduleFlush()
  }

  private func answer(_ stream: Int32, _ memory: UnsafeMutableRawPointer, _ reply: BareReply) {
    let request = memory.assumingMemoryBound(to: Request.self)
    Self.statusName.withUnsafeBufferPointer { statusName in
      Self.idName.withUnsafeBufferPointer { idName in
        reply.status.withUnsafeBufferPointer { status in
          let noIndex = UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue)
          var fields = (
            nghttp2_nv(
              name: UnsafeMutablePointer(mutating: statusName.baseAddress),
              value: UnsafeMutablePointer(mutating: status.baseAddress), namelen: statusName.count,
              valuelen: status.count, flags: 0),
            nghttp2_nv(
              name: UnsafeMutablePointer(mutating: idName.baseAddress), value: Self.letters(memory) + Self.pathRoom,
              namelen: idName.count, valuelen: request.pointee.id, flags: noIndex)
          )
          let count = request.pointee.id > 0 ? 2 : 1
          withUnsafePointer(to: &fields) { pair in
            pair.withMemoryRebound(to: nghttp2_nv.self, capacity: 2) { start in
              guard !reply.body.isEmpty else {
                nghttp2_submit_response(session, stream, start, count, nil)
                return
              }
              bodies[stream] = (reply, 0)
              var provider = nghttp2_data_provider()
              provider.read_callback = Self.read
              nghttp2_submit_response(session, stream, start, count, &provider)
            }
          }
        }
      }
    }
  }
  private static let statusName = Array(":status".utf8)
  private static let idName = Array("apns-id".utf8)

  private static let read: nghttp2_data_source_read_callback = { _, stream, buffer, length, flags, _, context in
    let connection = connection(context)
    guard let (reply, sent) = connection.bodies[stream] else {
      return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    }
    let count = min(length, reply.body.count - sent)
    reply.body.withUnsafeBytes {
      UnsafeMutableRawPointer(buffer!).copyMemory(from: $0.baseAddress! + sent, byteCount: count)
    }
    if sent + count == reply.body.count {
      flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
      connection.bodies[stream] = nil
    } else {
      connection.bodies[stream]?.sent = sent + count
    }
    return count
  }

  func goaway() {
    guard !isClosed, let session else { return }
    let last = nghttp2_session_get_last_proc_stream_id(session)
    nghttp2_submit_goaway(session, Self.noFlags, last, NGHTTP2_NO_ERROR.rawValue, nil, 0)
    scheduleFlush()
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    channel.close()
    loop.atEndOfTurn { [self] in server.closed(number) }
  }

  private func scheduleFlush() {
    guard !flushScheduled else { return }
    flushScheduled = true
    loop.atEndOfTurn { [self] in
      flushScheduled = false
      guard !isClosed else { return }
      channel.flush()
      settle()
    }
  }

  private func settle() {
    guard !isClosed, let session else { return }
    if nghttp2_session_want_read(session) == 0, nghttp2_session_want_write(session) == 0, !channel.hasOutput {
      channel.finish()
      isClosed = true
      loop.atEndOfTurn { [self] in server.closed(number) }
    }
  }

  // MARK: nghttp2

  private static let noFlags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
  private static let connectionWindow: Int32 = 1 << 24

  private static func connection(_ context: UnsafeMutableRawPointer?) -> BareConnection {
    Unmanaged<BareConnection>.fromOpaque(context!).takeUnretainedValue()
  }

  private func open() {
    var options: OpaquePointer?
    nghttp2_option_new(&options)
    nghttp2_option_set_no_closed_streams(options, 1)
    let made = nghttp2_session_server_new2(
      &session, Self.callbacks, Unmanaged.passUnretained(self).toOpaque(), options)
    nghttp2_option_del(options)
    precondition(made == 0, "no memory for an HTTP/2 session")
    ServerCallbacks.announce(streams, on: session!)
    nghttp2_session_set_local_window_size(session, Self.noFlags, 0, Self.connectionWindow)
  }

  // A pointer to a table that is filled once and then only read.
  nonisolated(unsafe) private static let callbacks: OpaquePointer = {
    var made: OpaquePointer?
    precondition(nghttp2_session_callbacks_new(&made) == 0, "no memory for HTTP/2 callbacks")
    let callbacks = made!

    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { session, frame, _ in
      nghttp2_session_set_stream_user_data(session, frame!.pointee.hd.stream_id, make())
      return 0
    }

    nghttp2_session_callbacks_set_on_header_callback(callbacks) { session, frame, name, nameCount, value, count, _, _ in
      // `:path` and `apns-id`, told apart by their lengths and first letters.
      let isPath = nameCount == 5 && name![1] == UInt8(ascii: "p")
      let isID = nameCount == 7 && name![0] == UInt8(ascii: "a") && name![5] == UInt8(ascii: "i")
      guard isPath || isID,
        let memory = nghttp2_session_get_stream_user_data(session, frame!.pointee.hd.stream_id)
      else { return 0 }
      let request = memory.assumingMemoryBound(to: Request.self)
      let kept = min(count, isPath ? pathRoom : idRoom)
      (letters(memory) + (isPath ? 0 : pathRoom)).update(from: value!, count: kept)
      if isPath { request.pointee.path = kept } else { request.pointee.id = kept }
      return 0
    }

    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, context in
      let head = frame!.pointee.hd
      guard head.type == UInt8(NGHTTP2_HEADERS.rawValue) || head.type == UInt8(NGHTTP2_DATA.rawValue),
        head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0,
        let memory = nghttp2_session_get_stream_user_data(session, head.stream_id)
      else { return 0 }
      let connection = connection(context)
      let path = UnsafeBufferPointer(
        start: letters(memory), count: memory.assumingMemoryBound(to: Request.self).pointee.path)
      let stream = HTTP2ServerStream(connection: connection.number, stream: head.stream_id)
      if let reply = connection.server.received(stream, path: path) {
        connection.answer(head.stream_id, memory, reply)
        connection.scheduleFlush()
      }
      return 0
    }

    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { session, stream, _, _ in
      nghttp2_session_get_stream_user_data(session, stream)?.deallocate()
      return 0
    }
    return callbacks
  }()
}

extension BareConnection: SecureChannelOwner {
  func channelOpened(_ channel: SecureChannel) {
    open()
    scheduleFlush()
  }

  func channelReceived(_ bytes: UnsafeRawBufferPointer) {
    guard !isClosed, let session else { return }
    let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    if nghttp2_session_mem_recv(session, start, bytes.count) < 0 { close() }
  }

  func channelSettled() {
    settle()
    if !isClosed, let session, channel.canWrite, nghttp2_session_want_write(session) != 0 { scheduleFlush() }
  }

  func channelFills() {
    guard let session else { return }
    while channel.wantsMore {
      var frame: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(session, &frame)
      if count <= 0 { return }
      channel.append(UnsafeRawBufferPointer(start: frame, count: count))
    }
  }

  func channelEnded(_ reason: String?) {
    guard !isClosed else { return }
    isClosed = true
    loop.atEndOfTurn { [self] in server.closed(number) }
  }
}
