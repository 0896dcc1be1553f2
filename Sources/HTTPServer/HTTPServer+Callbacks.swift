import CMicroHTTPD
import Domain

/// libmicrohttpd's callbacks, turned into calls of the server. All come on the loop, from inside `MHD_run` or
/// `MHD_stop_daemon`.
extension HTTPServer {
  var callbacks: fanfare_mhd_callbacks {
    fanfare_mhd_callbacks(
      context: Unmanaged.passUnretained(self).toOpaque(),
      accept: { server, address, _ in
        guard let address, let address = NetworkAddress(address) else { return .YES }
        return HTTPServer.from(server).mayConnect(address) ? .YES : .NO
      },
      access: { server, connection, _, method, version, piece, size, _ in
        let (server, connection) = (HTTPServer.from(server), Connection.from(connection))
        guard let size, let method, let version else { return .NO }
        let goesOn =
          connection.exchange?.head == nil
          ? server.receivedHead(
            method: method, version: version, headers: HTTPServer.headers(of: connection.raw), on: connection)
          : server.received(UnsafeRawBufferPointer(start: piece, count: size.pointee), on: connection)
        size.pointee = 0
        return goesOn ? .YES : .NO
      },
      target: { server, target, connection in
        if let target {
          HTTPServer.from(server).began(target, on: Connection.from(connection))
          HTTPServer.hideQuery(target)
        }
        return nil
      },
      completed: { server, connection, _, code in
        HTTPServer.from(server).ended(
          Connection.from(connection), completely: code == .REQUEST_TERMINATED_COMPLETED_OK)
      },
      connection: { server, raw, context, change in
        guard let raw, let context else { return }
        let server = HTTPServer.from(server)
        if change == .CONNECTION_NOTIFY_STARTED {
          context.pointee = Unmanaged.passRetained(server.opened(raw)).toOpaque()
        } else if let stored = context.pointee {
          server.closed(Unmanaged<Connection>.fromOpaque(stored).takeRetainedValue())
          context.pointee = nil
        }
      })
  }

  /// The query is parsed by `RequestHead`. libmicrohttpd would make an object of each parameter as well, and close the connection
  /// without an answer once those fill its memory. So it finds no `?` in the target, which is in its own read buffer.
  private static func hideQuery(_ target: UnsafePointer<CChar>) {
    var byte = UnsafeMutablePointer(mutating: target)
    while byte.pointee != 0, byte.pointee != CChar(UInt8(ascii: "?")) { byte += 1 }
    if byte.pointee != 0 { byte.pointee = CChar(UInt8(ascii: "/")) }
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> HTTPServer {
    Unmanaged<HTTPServer>.fromOpaque(context!).takeUnretainedValue()
  }

  /// In the order they came, names in lower case.
  private static func headers(of connection: OpaquePointer) -> [Header] {
    var headers: [Header] = []
    headers.reserveCapacity(8)
    withUnsafeMutablePointer(to: &headers) { list in
      _ = MHD_get_connection_values_n(
        connection, .HEADER_KIND,
        { list, _, name, nameSize, value, valueSize in
          func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(start: UnsafeRawPointer(start)?.assumingMemoryBound(to: UInt8.self), count: count)
          }
          func lowered(_ name: UnsafeBufferPointer<UInt8>) -> String {
            String(unsafeUninitializedCapacity: name.count) { bytes in
              for (index, byte) in name.enumerated() {
                bytes[index] = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
              }
              return name.count
            }
          }
          func trimmed(_ value: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>.SubSequence {
            let end = value.lastIndex { $0 != 0x20 && $0 != 0x09 }.map { $0 + 1 } ?? 0
            return value[..<end]
          }
          list!.assumingMemoryBound(to: [Header].self).pointee.append(
            Header(
              lowered(text(name, nameSize)), String(decoding: trimmed(text(value, valueSize)), as: UTF8.self)
            ))
          return .YES
        }, list)
    }
    return headers
  }
}

extension Connection {
  fileprivate static func from(_ raw: OpaquePointer?) -> Connection {
    Unmanaged<Connection>.fromOpaque(fanfare_mhd_context(raw)!).takeUnretainedValue()
  }
}
