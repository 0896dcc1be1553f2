package import Domain

/// What a worker loop tells of itself with each heartbeat.
package struct WorkerReport: Hashable, Sendable {
  /// One credential as this worker sees it; those without connection, work or trouble are left out.
  package struct Sending: Hashable, Sendable {
    package var credential: CredentialID
    /// `open` (it sends), `waiting`, `blocked`, `probing`, `unreachable`.
    package var state: String
    package var reason: String?
    package var connections: Int
    /// Requests at work, and how many may be.
    package var atWork: Int
    package var limit: Int
    /// Deliveries in memory.
    package var inMemory: Int
    /// Prunes that wait until more is known, by their reason.
    package var waitingPrunes: [String: Int]
    /// `atWork` and `limit` count requests, `inMemory` deliveries.
    package init(
      credential: CredentialID, state: String, reason: String?, connections: Int, atWork: Int, limit: Int,
      inMemory: Int,
      waitingPrunes: [String: Int] = [:]
    ) {
      self.credential = credential
      self.state = state
      self.reason = reason
      self.connections = connections
      self.atWork = atWork
      self.limit = limit
      self.inMemory = inMemory
      self.waitingPrunes = waitingPrunes
    }
  }

  package var serial: UInt64
  package var host: String
  package var process: Int
  package var startedAt: WallTime
  package var sendings: [Sending]
  /// By Redis' clock; set by the store.
  package var beatAt = WallTime(milliseconds: 0)

  /// `serial`: a random word that a worker loop keeps for its life. `process`: its id on `host`.
  package init(serial: UInt64, host: String, process: Int, startedAt: WallTime, sendings: [Sending] = []) {
    self.serial = serial
    self.host = host
    self.process = process
    self.startedAt = startedAt
    self.sendings = sendings
  }

  /// So that no sum of them overflows, whatever a damaged report says.
  mutating func boundCounts() {
    func bounded(_ count: Int) -> Int { min(count, Int(Int32.max)) }
    for place in sendings.indices {
      sendings[place].connections = bounded(sendings[place].connections)
      sendings[place].atWork = bounded(sendings[place].atWork)
      sendings[place].limit = bounded(sendings[place].limit)
      sendings[place].inMemory = bounded(sendings[place].inMemory)
      sendings[place].waitingPrunes = sendings[place].waitingPrunes.mapValues(bounded)
    }
  }

  /// As leases and the set of workers name it.
  package var name: String { String(serial, radix: 16) }
}

// MARK: Stored form

extension WorkerReport {
  private static let version: UInt8 = 2

  var packed: [UInt8] {
    var packer = Packer()
    packer.byte(Self.version)
    packer.text(host)
    packer.number(max(0, process))
    packer.time(startedAt.milliseconds)
    packer.number(sendings.count)
    for sending in sendings {
      packer.text(sending.credential.rawValue)
      packer.text(sending.state)
      packer.optional(sending.reason)
      for number in [sending.connections, sending.atWork, sending.limit, sending.inMemory] {
        packer.number(max(0, number))
      }
      packer.number(sending.waitingPrunes.count)
      for (reason, count) in sending.waitingPrunes.sorted(by: { $0.key < $1.key }) {
        packer.text(reason)
        packer.number(max(0, count))
      }
    }
    return packer.bytes
  }

  init(serial: UInt64, packed: [UInt8]) throws(Corrupt) {
    var reader = Unpacker(packed)
    guard try reader.byte() == Self.version else { throw Corrupt() }
    self.init(
      serial: serial, host: try reader.text(), process: try reader.int(),
      startedAt: WallTime(milliseconds: try reader.time()))
    for _ in 0..<(try reader.int()) {
      var sending = Sending(
        credential: CredentialID(rawValue: try reader.text()), state: try reader.text(),
        reason: try reader.optional(), connections: try reader.int(), atWork: try reader.int(),
        limit: try reader.int(), inMemory: try reader.int())
      for _ in 0..<(try reader.int()) {
        let reason = try reader.text()
        sending.waitingPrunes[reason] = try reader.int()
      }
      sendings.append(sending)
    }
    guard reader.isAtEnd else { throw Corrupt() }
  }
}
