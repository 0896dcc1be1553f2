import Domain
import HTTP2
import JSON

/// Plays APNs' management of broadcast channels in one environment, on a port of its own.
final class ChannelVendor: Vendor {
  let provider = SandboxProvider.channels
  let raisedStreams: Int? = nil
  private var door: APNsDoor
  private let channels: ChannelRegistry
  private var answers: APNsAnswers
  private var lastNow = WallTime(milliseconds: 0)

  init(door: APNsDoor, channels: ChannelRegistry, seed: UInt64) {
    self.door = door
    self.channels = channels
    answers = APNsAnswers(seed: seed)
  }

  func opened(_ connection: UInt64, _ certificate: HTTP2ClientCertificate?) { door.opened(connection, certificate) }
  func closed(_ connection: UInt64) { door.closed(connection) }

  private enum Place: String {
    case one = "channels"
    case all = "all-channels"
  }

  func examine(_ request: HTTP2ServerRequest, now: WallTime) -> Examination {
    lastNow = now
    var examination = Examination(valid: false, answer: VendorAnswer(status: 200))
    examination.id = request.header("apns-request-id") ?? ""
    examination.token = "channel:\(request.header("apns-channel-id") ?? "")"
    examination.answer.headers = [Header("apns-request-id", answers.echo(examination.id), indexed: false)]
    if let reason = refusal(request, &examination, now) {
      answers.refuse(&examination.answer, reason)
    } else {
      examination.valid = true
    }
    return examination
  }

  private func refusal(
    _ request: HTTP2ServerRequest, _ examination: inout Examination, _ now: WallTime
  ) -> APNsReason? {
    let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 5, parts[0].isEmpty, parts[1] == "1", parts[2] == "apps", !parts[3].isEmpty,
      let place = Place(rawValue: parts[4])
    else { return .badPath }
    let bundle = parts[3]
    examination.topic = bundle
    guard place == .all ? request.method == "GET" : ["POST", "GET", "DELETE"].contains(request.method) else {
      return .methodNotAllowed
    }
    if APNsRequestCheck.duplicated(request.headers) { return .duplicateHeaders }
    if !examination.id.isEmpty, UUIDBytes(examination.id) == nil { return .badMessageId }
    switch door.pass(request.stream.connection, authorization: request.header("authorization"), now: now) {
    case .failure(let refusal): return refusal.reason
    case .success(let topics):
      if let reason = BroadcastCheck.permission(bundle, topics, channels) { return reason }
    }
    if place == .all {
      list(bundle, &examination)
      return nil
    }
    if request.method == "POST" { return create(request, bundle, &examination) }
    guard let id = request.header("apns-channel-id"), !id.isEmpty else { return .missingChannelId }
    guard ChannelRegistry.isID(id) else { return .badChannelId }
    let policy = channels.policy(id, of: bundle)
    if request.method == "DELETE" {
      // Seen of the vendor: what is gone is a bad path.
      guard policy != nil else { return .badPath }
      examination.answer.status = 204
      examination.effect = { [channels] in channels.delete(id, of: bundle) }
      return nil
    }
    guard let policy else { return .channelNotRegistered }
    examination.answer.headers.append(Header("content-type", "application/json"))
    examination.answer.body =
      JSONValue.object([
        JSONMember("message-storage-policy", .integer(policy.rawValue)),
        JSONMember("push-type", .string(Self.pushType)),
      ]).encoded
    return nil
  }
  private static let pushType = "LiveActivity"

  private func list(_ bundle: String, _ examination: inout Examination) {
    examination.answer.headers.append(Header("content-type", "application/json"))
    examination.answer.body =
      JSONValue.object([JSONMember("channels", .array(channels.all(bundle).map { .string($0) }))]).encoded
  }

  private func create(_ request: HTTP2ServerRequest, _ bundle: String, _ examination: inout Examination) -> APNsReason?
  {
    guard !request.body.isEmpty else { return .payloadEmpty }
    guard request.body.count <= APNsPushType.alert.maximumPayload else { return .payloadTooLarge }
    guard let body = try? JSON.parse(request.body), body.object != nil else { return .badRequestPayload }
    guard let type = body["push-type"] else { return .missingPushType }
    guard type.string == Self.pushType else { return .invalidPushType }
    guard let given = body["message-storage-policy"] else { return .missingChannelQueueSize }
    guard let policy = given.integer.flatMap({ ChannelRegistry.Policy(rawValue: $0) }) else {
      return .badRequestPayload
    }
    guard channels.hasRoom(bundle) else { return .cannotCreateChannelConfig }
    let id = ChannelRegistry.freshID()
    examination.answer.status = 201
    examination.answer.name = id
    examination.answer.headers.append(Header("apns-channel-id", id, indexed: false))
    examination.effect = { [channels] in channels.create(id, of: bundle, policy) }
    return nil
  }

  func processed(_ examination: Examination, now: WallTime) { examination.effect?() }

  func expire(_ request: HTTP2ServerRequest) -> Bool { door.expire(request) }

  func answer(_ reply: Rule.Reply, to examination: Examination) -> VendorAnswer {
    answers.played(reply, to: examination, now: lastNow)
  }

  func farewell(_ reason: String) -> [UInt8] { APNsAnswers.farewell(reason) }
}
