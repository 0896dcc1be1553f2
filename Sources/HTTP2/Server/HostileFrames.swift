/// Frames that no HTTP/2 library makes: what a hostile or broken server would send.
enum HostileFrames {
  private static let headers: UInt8 = 1
  private static let continuation: UInt8 = 9
  private static let endStream: UInt8 = 1
  private static let endHeaders: UInt8 = 4
  /// `:status: 200` of HPACK's static table.
  private static let status200: UInt8 = 0x88

  static func frame(_ kind: UInt8, flags: UInt8, stream: Int32, _ payload: [UInt8]) -> [UInt8] {
    let id = UInt32(bitPattern: stream)
    return [
      UInt8(payload.count >> 16 & 0xFF), UInt8(payload.count >> 8 & 0xFF), UInt8(payload.count & 0xFF), kind, flags,
    ]
      + [UInt8(id >> 24), UInt8(id >> 16 & 0xFF), UInt8(id >> 8 & 0xFF), UInt8(id & 0xFF)] + payload
  }

  /// A header block that starts with HPACK's index 0, which stands for nothing.
  static func badHPACK(_ stream: Int32) -> [UInt8] {
    frame(headers, flags: endHeaders | endStream, stream: stream, [0x80])
  }

  /// An answer whose headers come in frame after frame.
  struct HeaderFlood {
    let stream: Int32
    /// Bytes of fields still to come; nil: no end.
    var left: Int?
    private var hasBegun = false

    init(stream: Int32, bytes: Int?) {
      self.stream = stream
      left = bytes
    }

    /// One field of 1,005 bytes: a literal without indexing, `x: aaa…`.
    private static let field: [UInt8] = [0x00, 0x01, 0x78, 0x7F, 0xE9, 0x06] + [UInt8](repeating: 0x61, count: 1000)
    private static let fieldsPerFrame = 16

    /// The next frame; nil when the block has ended.
    mutating func next() -> [UInt8]? {
      if let left, left <= 0, hasBegun { return nil }
      var payload: [UInt8] = hasBegun ? [] : [status200]
      for _ in 0..<Self.fieldsPerFrame where left ?? 1 > 0 {
        payload += Self.field
        left = left.map { $0 - Self.field.count }
      }
      let last = left.map { $0 <= 0 } ?? false
      defer { hasBegun = true }
      let flags = (last ? endHeaders : 0) | (hasBegun ? 0 : endStream)
      return frame(hasBegun ? continuation : headers, flags: flags, stream: stream, payload)
    }
  }
}
