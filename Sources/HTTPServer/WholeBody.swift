import CMicroHTTPD

/// A long answer on its way through libmicrohttpd, which owns this from `response()` until it lets the response go. It is given out
/// block by block, so that the server sees whether its client takes it.
final class WholeBody {
  private let bytes: [UInt8]
  private let connection: Connection
  /// Outlives its connections.
  private unowned let server: HTTPServer

  private static let blockSize = 16_384

  init(_ bytes: [UInt8], connection: Connection, server: HTTPServer) {
    self.bytes = bytes
    self.connection = connection
    self.server = server
  }

  func response() -> OpaquePointer? {
    let retained = Unmanaged.passRetained(self)
    let made = MHD_create_response_from_callback(
      UInt64(bytes.count), Self.blockSize,
      { body, position, buffer, size in
        Unmanaged<WholeBody>.fromOpaque(body!).takeUnretainedValue()
          .fill(UnsafeMutableRawBufferPointer(start: buffer, count: size), from: Int(clamping: position))
      },
      retained.toOpaque(), { body in Unmanaged<WholeBody>.fromOpaque(body!).release() })
    if made == nil { retained.release() }
    return made
  }

  private func fill(_ buffer: UnsafeMutableRawBufferPointer, from start: Int) -> Int {
    let count = min(buffer.count, bytes.count - start)
    bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
    server.took(count, on: connection)
    return count
  }
}
