import CNGHTTP2
package import Domain

/// The header fields of a frame's requests, put together once: nghttp2 copies of each request only what is its own. Memory
/// outside Swift's, as nghttp2 keeps pointers to it until the HEADERS have left; streams keep this object until they end.
///
/// Earns its place: of a request's 650 bytes of fields it leaves 100 to be written and copied, and no text is made.
package final class PreparedPush {
  private let bytes: UnsafeMutablePointer<UInt8>
  private let fields: UnsafeMutablePointer<nghttp2_nv>
  private let count: Int
  /// Where what differs stands: places in `fields`, and room for it.
  private let path: (field: Int, start: UnsafeMutablePointer<UInt8>, head: Int)
  private let id: (field: Int, start: UnsafeMutablePointer<UInt8>)?
  private let length: (field: Int, start: UnsafeMutablePointer<UInt8>)
  private let tokenInPath: Bool

  private static let idCount = 36
  private static let lengthDigits = 20

  /// The frame's `authorization` is never indexed by HPACK, whatever the frame says. Room is kept for a token of
  /// `PushFrame.longestToken` bytes in the path.
  package init(_ frame: PushFrame, origin: Origin) {
    tokenInPath = frame.tokenPlace == .path
    var all: [(name: String, value: String, indexed: Bool, own: Int)] = [
      (":method", "POST", true, 0), (":scheme", "https", true, 0), (":authority", origin.authority, true, 0),
      (":path", frame.path, false, tokenInPath ? PushFrame.longestToken : 0),
    ]
    for header in frame.headers {
      all.append((header.name, header.value, header.indexed && header.name != "authorization", 0))
    }
    let idField = frame.idHeader.map { name in
      all.append((name, "", false, Self.idCount))
      return all.count - 1
    }
    all.append(("content-length", "", false, Self.lengthDigits))
    count = all.count
    bytes = .allocate(capacity: all.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + $1.own })
    fields = .allocate(capacity: all.count)
    var place = bytes
    var starts: [UnsafeMutablePointer<UInt8>] = []
    for (number, field) in all.enumerated() {
      let name = place
      for byte in field.name.utf8 {
        place.pointee = byte
        place += 1
      }
      starts.append(place)
      for byte in field.value.utf8 {
        place.pointee = byte
        place += 1
      }
      let isShared = field.own == 0
      var flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue
      if isShared { flags |= NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue }
      if !field.indexed { flags |= NGHTTP2_NV_FLAG_NO_INDEX.rawValue }
      fields[number] = nghttp2_nv(
        name: name, value: starts[number], namelen: field.name.utf8.count, valuelen: field.value.utf8.count,
        flags: UInt8(flags))
      place += field.own
    }
    path = (3, starts[3], frame.path.utf8.count)
    id = idField.map { ($0, starts[$0]) }
    length = (all.count - 1, starts[all.count - 1])
  }

  deinit {
    bytes.deallocate()
    fields.deallocate()
  }

  /// The fields of one request; they hold until the next call.
  func with<Result>(
    token: [UInt8], id requestID: UUIDBytes, bodyCount: Int,
    _ body: (UnsafePointer<nghttp2_nv>, Int) -> Result
  ) -> Result {
    if tokenInPath {
      token.withUnsafeBufferPointer { token in
        if let start = token.baseAddress { (path.start + path.head).update(from: start, count: token.count) }
      }
      fields[path.field].valuelen = path.head + token.count
    }
    if let id {
      let letters = requestID.letters
      for place in 0..<Self.idCount { id.start[place] = letters[place] }
      fields[id.field].valuelen = Self.idCount
    }
    fields[length.field].valuelen = Self.write(bodyCount, to: length.start)
    // The last field is the length, which an empty body has none of.
    return body(fields, bodyCount == 0 ? count - 1 : count)
  }

  private static func write(_ number: Int, to start: UnsafeMutablePointer<UInt8>) -> Int {
    var digits = 1
    var rest = number
    while rest >= 10 {
      rest /= 10
      digits += 1
    }
    rest = number
    for place in stride(from: digits - 1, through: 0, by: -1) {
      start[place] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
    return digits
  }
}
