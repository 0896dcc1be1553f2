import Domain
import HTTP2

/// Carries the requests of one credential: a pool of HTTP/2 connections, or libcurl.
protocol Transport: AnyObject {
  var owner: (any TransportOwner)? { get set }
  /// A connection with room for one more request, if possible not `avoiding`; `reserve` is the share of its streams
  /// that this request must leave to others.
  func connectionSlot(avoiding: Int?, reserve: Double) -> Int?
  /// Work waits that found no connection slot: connect, and tell the owner when there is room.
  func demand()
  /// A peer that could not be reached may be tried at once, when `demand` comes next or a connection slot is asked for.
  func hurry()
  /// A connection aside from the others' for one more suspect, with less than `together` at work on it.
  func asideSlot(together: Int) -> Int?
  /// So many suspects wait: as `demand`.
  func demandAside(waiting: Int)
  /// No suspect waits.
  func restAside()
  /// The next request goes alone over this connection, and those before it brought no answer: another one than its
  /// first in turn may.
  func wantsAnother(connectionSlot: Int) -> Bool
  /// Requests, but for those on connections for suspects, that have been waiting for their answer for so many
  /// milliseconds.
  func requests(olderThan milliseconds: Int64) -> Int
  /// Needs a connection slot given just now. The owner hears `answered` or `failed` once per tag, never from inside.
  func send(_ request: ProviderRequest, tag: Int, connectionSlot: Int)
  /// It knows `prepare` and `push`.
  var takesPrepared: Bool { get }
  /// What `push` takes.
  func prepare(_ frame: PushFrame) -> PreparedPush?
  /// How many requests a connection slot has room for, with the share to be left to others.
  func room(at connectionSlot: Int, reserve: Double) -> Int
  /// As `send`; an acceptance comes back by `succeeded`.
  func push(_ push: PreparedPush, token: [UInt8], id: UUIDBytes, body: [UInt8], tag: Int, connectionSlot: Int)
  /// Opens no more streams there; those at work may finish.
  func retire(_ connectionSlot: Int)
  /// From now on requests go with another header: retires the connections that have carried the present one for less
  /// than so many milliseconds.
  func headerChanges(interval milliseconds: Int64)
  /// Requests that could be at work at the same time.
  var streams: Int { get }
  var connections: Int { get }
  /// Opens nothing any more and tells of nothing but the ends of what is at work.
  func drain()
  /// After `drain`: nothing is at work any more.
  var isDone: Bool { get }
  /// Ends all at once; what is at work fails.
  func close()
}

protocol TransportOwner: AnyObject {
  func answered(_ tag: Int, _ answer: ProviderAnswer)
  /// Prepared requests that were answered 200.
  func succeeded(_ answers: [(tag: UInt64, body: [UInt8])])
  func failed(_ tag: Int, _ failure: TransportFailure)
  /// There may be a connection slot where there was none.
  func hasRoom()
  /// The peer could not be reached several times in a row.
  func unreachable(_ reason: String)
  func reached()
}

enum TransportFailure: Hashable, Sendable {
  /// It never left: the peer cannot be reached. Nobody's attempt.
  case unreachable(String)
  /// It never left: the host that this request alone names cannot be reached. Says nothing of the others' hosts.
  case ownHostUnreachable(String)
  /// The peer surely did not process it.
  case notProcessed(String)
  case unknown(String)
  /// Unknown: it was at work when its connection ended, and so were `beside` others.
  case lost(String, beside: Int)
  /// Unknown: nothing came over its connection as long as it waited.
  case silent(String)
  /// It can be sent to nobody, ever.
  case unsendable(String)
}
