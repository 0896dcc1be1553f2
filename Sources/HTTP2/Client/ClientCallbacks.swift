import CNGHTTP2
import Domain

/// nghttp2's view of a client connection: its callbacks note what happened in the connection's slots and events, and call
/// nobody.
enum ClientCallbacks {
  /// Answers of many streams at once must not wait for WINDOW_UPDATEs of the connection; the bodies are kept by stream.
  private static let connectionWindow: Int32 = 1 << 24
  private static let noFlags = UInt8(NGHTTP2_FLAG_NONE.rawValue)

  static func makeSession(for connection: HTTP2ClientConnection) -> OpaquePointer {
    var session: OpaquePointer?
    var options: OpaquePointer?
    nghttp2_option_new(&options)
    nghttp2_option_set_peer_max_concurrent_streams(options, UInt32(clamping: connection.settings.initialStreams))
    nghttp2_option_set_no_closed_streams(options, 1)
    let context = Unmanaged.passUnretained(connection).toOpaque()
    let made = nghttp2_session_client_new2(&session, callbacks, context, options)
    nghttp2_option_del(options)
    precondition(made == 0, "no memory for an HTTP/2 session")
    let limits = connection.settings
    let entries = [
      nghttp2_settings_entry(settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue),
        value: UInt32(clamping: max(65_535, limits.maximumAnswerBody))),
      nghttp2_settings_entry(
        settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue),
        value: UInt32(clamping: limits.maximumHeaderBytes)),
    ]
    nghttp2_submit_settings(session, noFlags, entries, entries.count)
    nghttp2_session_set_local_window_size(session, noFlags, 0, connectionWindow)
    return session!
  }

  /// The stream's id, or an error below 0.
  static func submit(_ scratch: inout HeaderScratch, slot: Int, hasBody: Bool, to session: OpaquePointer?) -> Int32 {
    scratch.withFields { submit($0, $1, slot: slot, hasBody: hasBody, to: session) }
  }

  static func submit(
    _ fields: UnsafePointer<nghttp2_nv>?, _ count: Int, slot: Int, hasBody: Bool, to session: OpaquePointer?
  ) -> Int32 {
    let mark = UnsafeMutableRawPointer(bitPattern: slot + 1)
    guard hasBody else { return nghttp2_submit_request(session, nil, fields, count, nil, mark) }
    var provider = nghttp2_data_provider()
    provider.source.ptr = mark
    provider.read_callback = readBody
    return nghttp2_submit_request(session, nil, fields, count, &provider, mark)
  }

  /// A status; 0 if it is none.
  private static func number(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int {
    var number = 0
    for byte in UnsafeBufferPointer(start: start, count: min(count, 4)) {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return 0 }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return number
  }

  private static func connection(_ context: UnsafeMutableRawPointer?) -> HTTP2ClientConnection {
    Unmanaged<HTTP2ClientConnection>.fromOpaque(context!).takeUnretainedValue()
  }

  /// The slot of a stream, which is its user data less one; -1 if the stream is none of ours.
  private static func slot(_ session: OpaquePointer?, _ stream: Int32) -> Int {
    Int(bitPattern: nghttp2_session_get_stream_user_data(session, stream)) - 1
  }

  /// What kept HEADERS from being sent lies in them; all else lies in the connection.
  private static func isOfRequest(_ code: Int32) -> Bool {
    [NGHTTP2_ERR_FRAME_SIZE_ERROR, NGHTTP2_ERR_HEADER_COMP, NGHTTP2_ERR_INVALID_ARGUMENT, NGHTTP2_ERR_HTTP_HEADER]
      .contains { $0.rawValue == code }
  }

  private static let readBody: nghttp2_data_source_read_callback = { _, _, buffer, length, flags, source, context in
    let connection = connection(context)
    let index = Int(bitPattern: source!.pointee.ptr) - 1
    let sent = connection.table[index].requestSent
    let count = min(length, connection.table[index].requestBody.count - sent)
    connection.table[index].requestBody.withUnsafeBytes { body in
      UnsafeMutableRawPointer(buffer!).copyMemory(from: body.baseAddress! + sent, byteCount: count)
    }
    connection.table[index].requestSent += count
    if connection.table[index].isRequestSent { flags!.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
  }

  // A pointer to a table that is filled once and then only read.
  nonisolated(unsafe) private static let callbacks: OpaquePointer = {
    var made: OpaquePointer?
    precondition(nghttp2_session_callbacks_new(&made) == 0, "no memory for HTTP/2 callbacks")
    let callbacks = made!

    nghttp2_session_callbacks_set_before_frame_send_callback(callbacks) { session, frame, context in
      guard frame!.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue) else { return 0 }
      let connection = connection(context)
      let index = slot(session, frame!.pointee.hd.stream_id)
      if index >= 0, let channel = connection.channel { connection.table[index].start = channel.appended }
      return 0
    }

    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { session, frame, code, context in
      guard frame!.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue) else { return 0 }
      let index = slot(session, frame!.pointee.hd.stream_id)
      let connection = connection(context)
      if index >= 0, connection.table[index].condition == .working {
        connection.table[index].condition =
          isOfRequest(code) ? .unsendable(String(cString: nghttp2_strerror(code))) : .notSent
      }
      return 0
    }

    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { session, frame, context in
      let connection = connection(context)
      let index = slot(session, frame!.pointee.hd.stream_id)
      connection.current = index
      connection.skipsHeaders = false
      // Headers behind those of an interim answer (1xx) begin anew.
      if index >= 0, connection.table[index].status < 200 {
        connection.table[index].headers.removeAll(keepingCapacity: true)
        if connection.table[index].push == nil { connection.table[index].headers.reserveCapacity(8) }
      }
      return 0
    }

    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      _, _, name, nameCount, value, valueCount, _, context in
      let connection = connection(context)
      let index = connection.current
      guard index >= 0, !connection.skipsHeaders else { return 0 }
      // RFC 9113 counts 32 bytes for each field beside its text.
      connection.table[index].headerBytes += nameCount + valueCount + 32
      if connection.table[index].headerBytes > connection.settings.maximumHeaderBytes {
        if connection.table[index].condition == .working { connection.table[index].condition = .tooLarge }
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
      }
      if name![0] == UInt8(ascii: ":") {
        let status = number(value, valueCount)
        connection.table[index].status = status
        connection.skipsHeaders = status == 200 && connection.table[index].push != nil
      } else {
        connection.table[index].headers.append(Header(text(name, nameCount), text(value, valueCount)))
      }
      return 0
    }

    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { session, _, stream, data, count, context in
      let connection = connection(context)
      let index = slot(session, stream)
      guard index >= 0, connection.table[index].condition == .working else { return 0 }
      let room = connection.settings.maximumAnswerBody - connection.table[index].body.count
      connection.table[index].body.append(contentsOf: UnsafeBufferPointer(start: data, count: min(room, count)))
      if count > room {
        // The status and what fits tell what became of the request: to call that unknown would send it again.
        connection.table[index].condition = .answered
        nghttp2_submit_rst_stream(session, noFlags, stream, NGHTTP2_CANCEL.rawValue)
      }
      return 0
    }

    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { session, frame, context in
      let connection = connection(context)
      let head = frame!.pointee.hd
      switch UInt32(head.type) {
      case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
        if head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 {
          connection.answerEnded(slot(session, head.stream_id), head.stream_id)
        }
      case NGHTTP2_SETTINGS.rawValue:
        if head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0 { connection.settingsReceived() }
      case NGHTTP2_GOAWAY.rawValue:
        let goaway = frame!.pointee.goaway
        let debug = Array(UnsafeBufferPointer(start: goaway.opaque_data, count: goaway.opaque_data_len))
        connection.goawayReceived(code: goaway.error_code, debug: debug)
      default: break
      }
      return 0
    }

    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { session, stream, code, context in
      let index = slot(session, stream)
      if index >= 0 { connection(context).streamClosed(index, code: code) }
      return 0
    }

    nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, message, count, context in
      let bytes = UnsafeRawBufferPointer(start: message, count: min(count, 200))
      connection(context).lastError = "HTTP/2: \(String(decoding: bytes, as: UTF8.self))"
      return 0
    }
    return callbacks
  }()
}

extension HTTP2ClientConnection {
  fileprivate func settingsReceived() {
    let received = nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
    // All ones stands for "no limit named".
    let limit = received == .max ? settings.initialStreams : Int(received)
    if limit > streamLimit { grown = phase == .open }
    streamLimit = limit
    if phase == .connecting { events.append(.settings) }
  }

  fileprivate func goawayReceived(code: UInt32, debug: [UInt8]) {
    let reason = GoAwayReason.read(debug)
    drainReason = "GOAWAY: \(reason ?? String(cString: nghttp2_http2_strerror(code)))"
    guard phase == .open || phase == .connecting else { return }
    phase = .draining
    events.append(.draining(reason))
    // What nghttp2 still holds back will not be sent; the owner need not wait until nghttp2 gets to it.
    for index in table.indices where table[index].start == .max && table[index].condition == .working {
      events.append(.failed(table[index].tag, .notProcessed(drainReason ?? "GOAWAY")))
      table[index].condition = .reported
      table.stopWaiting(index)
    }
  }

  /// END_STREAM from the peer: the answer stands, and the rest of the request is of no use.
  fileprivate func answerEnded(_ index: Int, _ stream: Int32) {
    guard index >= 0, table[index].condition == .working, table[index].status >= 200 else { return }
    table[index].condition = .answered
    if !table[index].isRequestSent {
      nghttp2_submit_rst_stream(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, NGHTTP2_CANCEL.rawValue)
    }
  }

  fileprivate func streamClosed(_ index: Int, code: UInt32) {
    grown = true
    if let success = table.removeSuccess(index) { return successes.append(success) }
    let slot = table.remove(index)
    if let event = slot.outcome(closedWith: code, refusal: drainReason, limits: settings) { events.append(event) }
  }
}
