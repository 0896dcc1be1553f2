import Domain
import HTTP2
import JSON

/// Plays APNs with token authentication.
final class APNsVendor: HTTP2Vendor {
  let provider = SandboxProvider.apns
  let raisedStreams: Int?
  private var requestCheck: APNsRequestCheck
  private var tokenCheck: ProviderTokenCheck
  private var trust: [UInt64: APNsConnectionTrust] = [:]
  private var unique: UniqueIDs
  private var lastNow = WallTime(milliseconds: 0)

  init(bundleIDs: Set<String>, tokenCheck: ProviderTokenCheck, streams: Int, seed: UInt64) {
    requestCheck = APNsRequestCheck(bundleIDs: bundleIDs)
    self.tokenCheck = tokenCheck
    raisedStreams = streams
    unique = UniqueIDs(seed: seed)
  }

  func opened(_ connection: UInt64) { trust[connection] = APNsConnectionTrust() }
  func closed(_ connection: UInt64) { trust[connection] = nil }

  func examine(_ request: HTTP2ServerRequest, now: WallTime) -> Examination {
    lastNow = now
    var examination = Examination(valid: false, answer: VendorAnswer(status: 200))
    var authorization: String?
    for header in request.headers {
      switch header.name {
      case "apns-id": examination.id = header.value
      case "apns-topic": examination.topic = header.value
      case "authorization": authorization = header.value
      default: break
      }
    }
    examination.answer.headers = [Header("apns-id", echo(examination.id), indexed: false)]
    let refusal = refusal(request, authorization, &examination, now)
    if let refusal {
      refuse(&examination.answer, refusal.status, refusal.rawValue, timestamp: nil)
    } else {
      examination.valid = true
      examination.answer.headers.append(Header("apns-unique-id", unique.next(), indexed: false))
    }
    return examination
  }

  private func refusal(
    _ request: HTTP2ServerRequest, _ authorization: String?, _ examination: inout Examination, _ now: WallTime
  ) -> APNsReason? {
    switch APNsRequestCheck.token(method: request.method, path: request.path) {
    case .success(let token): examination.token = token
    case .failure(let refusal): return refusal.reason
    }
    if APNsRequestCheck.duplicated(request.headers) { return .duplicateHeaders }
    let connection = request.stream.connection
    if let reason = trust[connection, default: APNsConnectionTrust()].refusal(
      authorization: authorization, &tokenCheck, now: now)
    {
      return reason
    }
    let reason = requestCheck.refusal(token: examination.token, headers: request.headers, body: request.body)
    // "1 stream until one request with a valid token has been accepted"
    examination.raisesStreams = reason == nil
    return reason
  }

  /// The client's id where it is one, else a fresh one.
  private func echo(_ id: String) -> String { UUIDBytes(id) != nil ? id : unique.next() }

  private func refuse(_ answer: inout VendorAnswer, _ status: Int, _ reason: String, timestamp: Int64?) {
    answer.status = status
    answer.reason = reason
    answer.headers.append(Header("content-type", "application/json"))
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("reason", reason)
    writer.member("timestamp", timestamp)
    writer.endObject()
    answer.body = writer.bytes
  }

  func answer(_ reply: Rule.Reply, to examination: Examination) -> VendorAnswer {
    let reason = reply.reason ?? APNsReason.usual(for: reply.status)
    guard reply.status != 200 else { return examination.answer }
    var answer = VendorAnswer(status: reply.status, headers: Array(examination.answer.headers.prefix(1)))
    let timestamp = reply.timestamp ?? (reply.status == 410 ? lastNow.milliseconds : nil)
    if let body = reply.body {
      answer.reason = reason
      answer.body = Array(body.utf8)
      answer.headers.append(Header("content-type", "text/html"))
    } else {
      refuse(&answer, reply.status, reason, timestamp: timestamp)
    }
    if let seconds = reply.retryAfter { answer.headers.append(Header("retry-after", String(seconds))) }
    return answer
  }

  func farewell(_ reason: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("reason", reason)
    writer.endObject()
    return writer.bytes
  }
}
