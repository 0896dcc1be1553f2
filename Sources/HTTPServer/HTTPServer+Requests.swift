import CMicroHTTPD
import Domain
import Glibc
import Loop

/// A request on its way: its head is admitted, its body is read on somebody's account, its handler answers.
extension HTTPServer {
  func began(_ target: UnsafePointer<CChar>, on connection: Connection) {
    // The first request's time runs since the connection began.
    if connection.phase == .idle { connection.deadline = loop.now + settings.headTimeout }
    connection.phase = .head
    connection.exchange = Exchange(target: target)
  }

  func ended(_ connection: Connection, completely: Bool) {
    releaseHold(of: connection)
    connection.exchange = nil
    connection.phase = .idle
    connection.pace = nil
    connection.deadline = loop.now + settings.idleTimeout
    if !completely { connection.wasCutShort = true }
    wakeStop()
  }

  func releaseHold(of connection: Connection) {
    guard let exchange = connection.exchange, exchange.hold != nil else { return }
    budget.release(&exchange.hold!)
  }

  // MARK: Head

  /// False closes the connection, here and below.
  func receivedHead(
    method: UnsafePointer<CChar>, version: UnsafePointer<CChar>, headers: [Header], on connection: Connection
  ) -> Bool {
    guard let exchange = connection.exchange, let peer = connection.peer else { return false }
    let head: RequestHead
    do throws(HTTPRefusal) {
      guard UnsafeRawPointer(version) == exchange.targetEnd else { throw .badRequest("The target holds a NUL.") }
      head = try RequestHead(
        method: String(cString: method), target: exchange.target, version: String(cString: version), headers: headers,
        settings: settings)
    } catch {
      connection.wasCutShort = true
      return answer(refuse(error), closing: true, on: connection)
    }
    exchange.head = head
    let client = addresses.client(peer: peer, headers)
    let request = HTTPServerRequest(
      method: head.method, path: head.path, query: head.query, headers: head.headers, body: [], address: client,
      isFromSharedAddress: addresses.isShared(client), isFromProxy: addresses.isShared(peer))
    exchange.request = request
    switch admit(request) {
    case .now(let verdict):
      return settle(verdict, exchange, head, on: connection)
    case .later(let find):
      connection.phase = .admission
      connection.deadline = nil
      exchange.isToldAgain = true
      MHD_suspend_connection(connection.raw)
      loop.spawn { [self] in
        let verdict = await find()
        // A suspended connection cannot have gone. Resumed, it is asked for its body, or closes on its next sign of life.
        if !settle(verdict, exchange, head, on: connection) { endLater(connection) }
        MHD_resume_connection(connection.raw)
        runAtEndOfTurn()
      }
      return true
    }
  }

  private func settle(
    _ verdict: HTTPVerdict, _ exchange: Exchange, _ head: RequestHead, on connection: Connection
  ) -> Bool {
    switch verdict {
    case .answer(let response):
      if head.hasBody { return end(with: response, on: connection) }
      exchange.answer = response
      connection.phase = .body
      connection.deadline = nil
      return true
    case .take(let permit, let key):
      exchange.request?.permit = permit
      let client = exchange.request?.address
      exchange.hold = .init(key: key, address: exchange.request?.isFromSharedAddress == true ? nil : client?.owner)
      if let length = head.contentLength, length > 0, let share = budget.set(&exchange.hold!, to: length) {
        return end(with: noMemory(share, on: connection), on: connection)
      }
      connection.phase = .body
      connection.pace = head.hasBody ? pace() : nil
      connection.deadline = nil
      exchange.body.reserveCapacity(min(head.contentLength ?? 0, Self.firstCapacity))
      return true
    }
  }
  /// Bytes; a longer body gets its place when it comes.
  private static let firstCapacity = 65_536

  private func pace() -> TransferPace {
    TransferPace(
      now: loop.now, window: settings.transferWindow, leastRate: settings.leastRate, longest: settings.longestTransfer)
  }

  /// Answers instead of reading a body, or more of one. False, for the connection must close.
  private func end(with response: HTTPServerResponse, on connection: Connection) -> Bool {
    connection.phase = .answer
    connection.wasCutShort = true
    connection.exchange?.body = []
    connection.answerDirectly(response)
    return false
  }

  /// libmicrohttpd closes a connection only from inside a callback, and there is none now. It finds that it can no longer write, or
  /// asks what to do with more of the body, or its client goes; or its time ends.
  private func endLater(_ connection: Connection) {
    Loop.Socket.endWriting(connection.socket)
    connection.pace = nil
    connection.deadline = loop.now + Self.patience
  }
  /// Milliseconds.
  private static let patience: Int64 = 1_000

  // MARK: Body

  /// A piece of the body, or nothing at its end.
  func received(_ piece: UnsafeRawBufferPointer, on connection: Connection) -> Bool {
    // In any other phase an answer could not be queued: closing is what remains.
    guard connection.phase == .body, let exchange = connection.exchange, let head = exchange.head else { return false }
    if exchange.isToldAgain {
      exchange.isToldAgain = false
      if piece.isEmpty { return true }
    }
    if !piece.isEmpty { return receive(piece, exchange, head, on: connection) }
    if let response = exchange.answer { return answer(response, closing: isStopping, on: connection) }
    guard var request = exchange.request else { return false }
    request.body = exchange.body
    exchange.body = []
    connection.phase = .handler
    connection.deadline = nil
    connection.pace = nil
    MHD_suspend_connection(connection.raw)
    loop.spawn { [self, request] in
      let response = await handle(request)
      // A suspended connection cannot have gone.
      if response.isWithheld {
        connection.phase = .answer
      } else {
        _ = answer(response, closing: isStopping, on: connection)
      }
      MHD_resume_connection(connection.raw)
      runAtEndOfTurn()
    }
    return true
  }

  private func receive(
    _ piece: UnsafeRawBufferPointer, _ exchange: Exchange, _ head: RequestHead, on connection: Connection
  ) -> Bool {
    let count = exchange.body.count + piece.count
    guard count <= head.bodyLimit else {
      return end(with: refuse(.bodyTooLarge(limit: head.bodyLimit)), on: connection)
    }
    if let length = head.contentLength {
      if count > Self.firstCapacity { exchange.body.reserveCapacity(length) }
    } else if let share = budget.set(&exchange.hold!, to: count) {
      return end(with: noMemory(share, on: connection), on: connection)
    }
    connection.pace?.move(piece.count, now: loop.now)
    exchange.body.append(contentsOf: piece)
    return true
  }

  // MARK: Answer

  private func answer(_ response: HTTPServerResponse, closing: Bool, on connection: Connection) -> Bool {
    let exchange = connection.exchange
    var response = response
    // What somebody with a key had done is told, whatever it takes.
    if let hold = exchange?.hold,
      let share = budget.set(&exchange!.hold!, to: response.heldBytes, mustBe: !hold.key.isEmpty)
    {
      response = noMemory(share, on: connection)
      budget.release(&exchange!.hold!)
    }
    connection.phase = .answer
    connection.deadline = nil
    connection.pace = nil
    let made: OpaquePointer?
    switch response.body {
    case .whole(let bytes):
      connection.pace = pace()
      made =
        bytes.count > ByteBudget.small
        ? WholeBody(bytes, connection: connection, server: self).response()
        : bytes.withUnsafeBytes { body in
          MHD_create_response_from_buffer(
            body.count, UnsafeMutableRawPointer(mutating: body.baseAddress), .RESPMEM_MUST_COPY)
        }
    case .pieces(let pieces):
      connection.deadline = loop.now + settings.longestTransfer
      made = StreamedBody(pieces, connection: connection, server: self).response()
    }
    guard let made else { return false }
    defer { MHD_destroy_response(made) }
    for header in response.headers { add(header, to: made) }
    if closing { MHD_add_response_header(made, "Connection", "close") }
    return MHD_queue_response(connection.raw, UInt32(response.status), made) == .YES
  }

  private func add(_ header: Header, to made: OpaquePointer) {
    guard let value = header.permittedValue else { return }
    header.name.withCString { name in value.withCString { value in _ = MHD_add_response_header(made, name, value) } }
  }

  /// The client has taken what was made of a streamed body: the connection waits for the next piece.
  func waits(_ connection: Connection) {
    connection.phase = .handler
    connection.deadline = nil
    MHD_suspend_connection(connection.raw)
  }

  /// The client takes what it is given.
  func took(_ count: Int, on connection: Connection) {
    if connection.pace != nil {
      connection.pace?.move(count, now: loop.now)
    } else {
      connection.deadline = loop.now + settings.longestTransfer
    }
  }

  func goesOn(_ connection: Connection) {
    connection.phase = .answer
    connection.deadline = loop.now + settings.longestTransfer
    MHD_resume_connection(connection.raw)
    runAtEndOfTurn()
  }
}

extension HTTPServerResponse {
  /// What it takes of the server's memory until the client has it: of a body in pieces, one piece.
  fileprivate var heldBytes: Int {
    switch body {
    case .whole(let bytes): bytes.count
    case .pieces: 65_536
    }
  }
}
