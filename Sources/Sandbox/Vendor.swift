import Domain
import HTTP2

/// A vendor behind a port: examines requests and words answers. Owned by the loop.
protocol Vendor: AnyObject {
  /// Whom the port's connections are for, and requests unless their examination says otherwise.
  var provider: SandboxProvider { get }
  /// Others who answer on this port; rules for their connections meet all of the port's.
  var guests: [SandboxProvider] { get }
  /// Streams that a connection may carry once a request on it proved itself; nil: what it may from the start.
  var raisedStreams: Int? { get }
  func opened(_ connection: UInt64, _ certificate: HTTP2ClientCertificate?)
  func closed(_ connection: UInt64)
  /// The connection may carry `raisedStreams` from the start.
  func raisesAtOnce(_ connection: UInt64) -> Bool
  func examine(_ request: HTTP2ServerRequest, now: WallTime) -> Examination
  /// The examined request was taken for delivery.
  func processed(_ examination: Examination, now: WallTime)
  /// The request's credential stops working; false if it cannot.
  func expire(_ request: HTTP2ServerRequest) -> Bool
  /// True if a rule's answer says that the vendor did not take the request.
  func refuses(_ reply: Rule.Reply) -> Bool
  /// The answer of a rule, in the vendor's form.
  func answer(_ reply: Rule.Reply, to examination: Examination) -> VendorAnswer
  /// The answer that names members of the request as out of reach.
  func partial(_ reason: String, _ picked: [String], _ examination: Examination) -> VendorAnswer
  /// A rule's answer goes out on the connection.
  func played(_ reply: Rule.Reply, on connection: UInt64)
  /// GOAWAY's debug data; plain text unless the vendor words it otherwise.
  func farewell(_ reason: String) -> [UInt8]
}

extension Vendor {
  var guests: [SandboxProvider] { [] }
  var raisedStreams: Int? { nil }
  func opened(_ connection: UInt64, _ certificate: HTTP2ClientCertificate?) {}
  func closed(_ connection: UInt64) {}
  func raisesAtOnce(_ connection: UInt64) -> Bool { false }
  func processed(_ examination: Examination, now: WallTime) {}
  func expire(_ request: HTTP2ServerRequest) -> Bool { false }
  func refuses(_ reply: Rule.Reply) -> Bool { reply.status != 200 }
  func partial(_ reason: String, _ picked: [String], _ examination: Examination) -> VendorAnswer { examination.answer }
  func played(_ reply: Rule.Reply, on connection: UInt64) {}
  func farewell(_ reason: String) -> [UInt8] { Array(reason.utf8) }
}

extension HTTP2ServerRequest {
  /// The path without its query.
  var barePath: String { path.firstIndex(of: "?").map { String(path[..<$0]) } ?? path }
  /// The query's fields; of repeated ones the first.
  var query: [String: String] {
    guard let mark = path.firstIndex(of: "?") else { return [:] }
    return FormFields.read(Array(path[path.index(after: mark)...].utf8))
  }
}
