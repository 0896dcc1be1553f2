import Domain
import HTTP2

/// Plays APNs in one environment: pushes to devices and broadcasts to channels.
final class APNsVendor: Vendor {
  let provider = SandboxProvider.apns
  let raisedStreams: Int?
  private var door: APNsDoor
  private var requestCheck = APNsRequestCheck()
  private let register: TokenRegister
  private let channels: ChannelRegistry
  private var answers: APNsAnswers
  private var lastNow = WallTime(milliseconds: 0)

  init(door: APNsDoor, register: TokenRegister, channels: ChannelRegistry, streams: Int, seed: UInt64) {
    self.door = door
    self.register = register
    self.channels = channels
    raisedStreams = streams
    answers = APNsAnswers(seed: seed)
  }

  func opened(_ connection: UInt64, _ certificate: HTTP2ClientCertificate?) { door.opened(connection, certificate) }
  func closed(_ connection: UInt64) { door.closed(connection) }
  /// "1 stream until one request with a valid token": a certificate has proved itself in the handshake.
  func raisesAtOnce(_ connection: UInt64) -> Bool { door.hasCertificate(connection) }

  func examine(_ request: HTTP2ServerRequest, now: WallTime) -> Examination {
    lastNow = now
    return request.path.hasPrefix(BroadcastCheck.pathPrefix) ? broadcast(request, now) : push(request, now)
  }

  private func push(_ request: HTTP2ServerRequest, _ now: WallTime) -> Examination {
    var examination = Examination(valid: false, answer: VendorAnswer(status: 200))
    examination.id = request.header("apns-id") ?? ""
    examination.topic = request.header("apns-topic") ?? ""
    examination.answer.headers = [Header("apns-id", answers.echo(examination.id), indexed: false)]
    if let reason = refusal(request, &examination, now) {
      answers.refuse(&examination.answer, reason)
    } else {
      examination.valid = true
      // "1 stream until one request with a valid token has been accepted"
      examination.raisesStreams = true
      examination.answer.headers.append(Header("apns-unique-id", answers.freshID(), indexed: false))
    }
    return examination
  }

  private func refusal(
    _ request: HTTP2ServerRequest, _ examination: inout Examination, _ now: WallTime
  ) -> APNsReason? {
    switch APNsRequestCheck.token(method: request.method, path: request.path) {
    case .success(let token): examination.token = token
    case .failure(let refusal): return refusal.reason
    }
    if APNsRequestCheck.duplicated(request.headers) { return .duplicateHeaders }
    let topics: APNsTopics
    switch door.pass(request.stream.connection, authorization: request.header("authorization"), now: now) {
    case .success(let allowed): topics = allowed
    case .failure(let refusal): return refusal.reason
    }
    if let reason = requestCheck.refusal(
      token: examination.token, headers: request.headers, body: request.body, topics: topics, topic: &examination.topic)
    {
      return reason
    }
    return register.refusal(examination.token, examination.topic, door.environment)
  }

  private func broadcast(_ request: HTTP2ServerRequest, _ now: WallTime) -> Examination {
    var examination = Examination(valid: false, answer: VendorAnswer(status: 200))
    let bundle = String(request.path.dropFirst(BroadcastCheck.pathPrefix.count))
    examination.isBroadcast = true
    examination.token = "channel:\(request.header("apns-channel-id") ?? "")"
    examination.topic = bundle
    examination.id = request.header("apns-request-id") ?? request.header("apns-id") ?? ""
    examination.answer.headers = [Header("apns-request-id", answers.echo(examination.id), indexed: false)]
    var reason: APNsReason?
    if request.method != "POST" {
      reason = .methodNotAllowed
    } else if APNsRequestCheck.duplicated(request.headers) {
      reason = .duplicateHeaders
    } else {
      switch door.pass(request.stream.connection, authorization: request.header("authorization"), now: now) {
      case .failure(let refusal): reason = refusal.reason
      case .success(let topics):
        reason = BroadcastCheck.refusal(
          bundle: bundle, headers: request.headers, body: request.body, topics: topics, registry: channels)
      }
    }
    if let reason { answers.refuse(&examination.answer, reason) }
    examination.valid = reason == nil
    examination.raisesStreams = reason == nil
    return examination
  }

  func processed(_ examination: Examination, now: WallTime) {
    if !examination.isBroadcast { register.learn(examination.token, examination.topic, door.environment) }
  }

  func expire(_ request: HTTP2ServerRequest) -> Bool { door.expire(request) }

  func played(_ reply: Rule.Reply, on connection: UInt64) {
    if reply.reason == APNsReason.expiredProviderToken.rawValue { door.spoil(connection) }
  }

  func answer(_ reply: Rule.Reply, to examination: Examination) -> VendorAnswer {
    answers.played(reply, to: examination, now: lastNow)
  }

  func farewell(_ reason: String) -> [UInt8] { APNsAnswers.farewell(reason) }
}
