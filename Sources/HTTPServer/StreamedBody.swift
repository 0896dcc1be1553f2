import CMicroHTTPD
import Loop

/// A body in pieces on its way through libmicrohttpd, which owns this from `response()` until it lets the response go.
final class StreamedBody {
  private enum State {
    /// What of the piece was not taken yet. Exits: `making`, `ended`, `broken`.
    case sending([UInt8], from: Int)
    /// The connection is suspended. Exit: any other.
    case making
    case ended
    case broken
  }
  private let pieces: BodyPieces
  private let connection: Connection
  /// Outlives its connections.
  private unowned let server: HTTPServer
  private var state = State.sending([], from: 0)

  /// libmicrohttpd asks for so much at a time.
  private static let blockSize = 65_536
  // Macros with casts, which Swift does not see.
  private static let unknownSize = UInt64.max
  private static let endOfStream = -1
  private static let endWithError = -2

  init(_ pieces: BodyPieces, connection: Connection, server: HTTPServer) {
    self.pieces = pieces
    self.connection = connection
    self.server = server
  }

  func response() -> OpaquePointer? {
    let retained = Unmanaged.passRetained(self)
    let made = MHD_create_response_from_callback(
      Self.unknownSize, Self.blockSize,
      { body, _, buffer, size in
        Unmanaged<StreamedBody>.fromOpaque(body!).takeUnretainedValue()
          .fill(UnsafeMutableRawBufferPointer(start: buffer, count: size))
      },
      retained.toOpaque(), { body in Unmanaged<StreamedBody>.fromOpaque(body!).release() })
    if made == nil { retained.release() }
    return made
  }

  private func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
    switch state {
    case .sending(let piece, let start) where start < piece.count:
      let count = min(buffer.count, piece.count - start)
      piece.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
      state = .sending(piece, from: start + count)
      server.took(count, on: connection)
      return count
    case .sending:
      state = .making
      server.waits(connection)
      // What is made is kept by the response until the client has it, or has left.
      server.loop.spawn { [self] in
        await make()
        server.goesOn(connection)
      }
      return 0
    case .making: return 0
    case .ended: return Self.endOfStream
    case .broken: return Self.endWithError
    }
  }

  private func make() async {
    do throws(BodyPieces.Broken) {
      var piece: [UInt8]? = []
      while piece?.isEmpty == true { piece = try await pieces.next() }
      if let piece { state = .sending(piece, from: 0) } else { state = .ended }
    } catch {
      state = .broken
    }
  }
}
