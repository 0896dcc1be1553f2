import CNGHTTP2
import Domain
import Glibc

/// nghttp2's view of a server's connection: its callbacks fill the connection's streams and events, and call nobody.
enum ServerCallbacks {
  private static let noFlags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
  private static let connectionWindow: Int32 = 1 << 24

  static func makeSession(for connection: ServerConnection) -> OpaquePointer {
    var session: OpaquePointer?
    var options: OpaquePointer?
    nghttp2_option_new(&options)
    nghttp2_option_set_no_closed_streams(options, 1)
    let context = Unmanaged.passUnretained(connection).toOpaque()
    let made = nghttp2_session_server_new2(&session, callbacks, context, options)
    nghttp2_option_del(options)
    precondition(made == 0, "no memory for an HTTP/2 session")
    announce(connection.settings.maximumConcurrentStreams, on: session!)
    nghttp2_session_set_local_window_size(session, noFlags, 0, connectionWindow)
    return session!
  }

  static func announce(_ limit: Int, on session: OpaquePointer) {
    var entry = nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(clamping: limit))
    nghttp2_submit_settings(session, noFlags, &entry, 1)
  }

  static func respond(_ scratch: inout HeaderScratch, hasBody: Bool, on stream: Int32, of session: OpaquePointer?) {
    scratch.withFields { fields, count in
      guard hasBody else {
        nghttp2_submit_response(session, stream, fields, count, nil)
        return
      }
      var provider = nghttp2_data_provider()
      provider.read_callback = readAnswer
      nghttp2_submit_response(session, stream, fields, count, &provider)
    }
  }

  private static func connection(_ context: UnsafeMutableRawPointer?) -> ServerConnection {
    Unmanaged<ServerConnection>.fromOpaque(context!).takeUnretainedValue()
  }

  private static let readAnswer: nghttp2_data_source_read_callback = { _, stream, buffer, length, flags, _, context in
    let connection = connection(context)
    guard let sent = connection.streams[stream]?.answerSent, let given = connection.streams[stream]?.answer.count,
      let filler = connection.streams[stream]?.filler
    else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
    var count = 0
    if sent < given {
      count = min(length, given - sent)
      connection.streams[stream]?.answer.withUnsafeBytes { body in
        UnsafeMutableRawPointer(buffer!).copyMemory(from: body.baseAddress! + sent, byteCount: count)
      }
    } else {
      count = min(length, given + filler - sent)
      memset(buffer!, Int32(UInt8(ascii: "x")), count)
    }
    connection.streams[stream]?.answerSent += count
    if sent + count == given + filler { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
  }

  // A pointer to a table that is filled once and then only read.
  nonisolated(unsafe) private static let callbacks: OpaquePointer = {
    var made: OpaquePointer?
    precondition(nghttp2_session_callbacks_new(&made) == 0, "no memory for HTTP/2 callbacks")
    let callbacks = made!

    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, context in
      let stream = frame!.pointee.hd.stream_id
      let connection = connection(context)
      if connection.streams[stream] == nil { connection.streams[stream] = ServerConnection.Stream() }
      return 0
    }

    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      _, frame, name, nameCount, value, valueCount, _, context in
      let connection = connection(context)
      let name = text(name, nameCount)
      return connection.header(name, text(value, valueCount), on: frame!.pointee.hd.stream_id)
    }

    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { session, _, stream, data, count, context in
      let connection = connection(context)
      guard let held = connection.streams[stream]?.body.count else { return 0 }
      if held + count > connection.settings.maximumBody {
        connection.streams[stream]?.isSettled = true
        connection.streams[stream]?.body = []
        nghttp2_submit_rst_stream(session, noFlags, stream, NGHTTP2_ENHANCE_YOUR_CALM.rawValue)
      } else {
        connection.streams[stream]?.body.append(contentsOf: UnsafeBufferPointer(start: data, count: count))
      }
      return 0
    }

    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
      let head = frame!.pointee.hd
      guard head.type == UInt8(NGHTTP2_HEADERS.rawValue) || head.type == UInt8(NGHTTP2_DATA.rawValue),
        head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
      else { return 0 }
      connection(context).requestEnded(head.stream_id)
      return 0
    }

    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, _, context in
      connection(context).streamClosed(stream)
      return 0
    }
    return callbacks
  }()
}

extension ServerConnection {
  fileprivate func header(_ name: String, _ value: String, on id: Int32) -> Int32 {
    guard streams[id] != nil else { return 0 }
    streams[id]?.headerBytes += name.utf8.count + value.utf8.count + 32
    if let bytes = streams[id]?.headerBytes, bytes > settings.maximumHeaderBytes {
      streams[id]?.isSettled = true
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }
    switch name {
    case ":method": streams[id]?.method = value
    case ":path": streams[id]?.path = value
    case ":authority": streams[id]?.authority = value
    case ":scheme": break
    default: streams[id]?.headers.append(Header(name, value))
    }
    return 0
  }

  fileprivate func requestEnded(_ id: Int32) {
    guard let stream = streams[id], !stream.isReceived, !stream.isSettled else { return }
    streams[id]?.isReceived = true
    streams[id]?.headers = []
    streams[id]?.body = []
    events.append(
      .received(
        HTTP2ServerRequest(
          stream: HTTP2ServerStream(connection: number, stream: id), method: stream.method, path: stream.path,
          authority: stream.authority, headers: stream.headers, body: stream.body)))
  }

  fileprivate func streamClosed(_ id: Int32) {
    guard let stream = streams.removeValue(forKey: id) else { return }
    if stream.isReceived, !stream.isSettled {
      events.append(.abandoned(HTTP2ServerStream(connection: number, stream: id)))
    }
  }
}
