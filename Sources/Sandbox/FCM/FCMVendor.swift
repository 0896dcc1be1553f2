import Domain
import HTTP2
import JSON

/// Plays FCM HTTP v1.
final class FCMVendor: Vendor {
  let provider = SandboxProvider.fcm
  private let project: String
  private let tokens: AccessTokens
  private var messages: UInt64 = 0

  init(project: String, tokens: AccessTokens) {
    self.project = project
    self.tokens = tokens
  }

  func examine(_ request: HTTP2ServerRequest, now: WallTime) -> Examination {
    var examination = Examination(valid: false, answer: VendorAnswer(status: 200))
    examination.topic = project
    guard let asked = Self.project(in: request.path) else {
      examination.answer = Self.edgeFault(404)
      return examination
    }
    guard request.method == "POST" else {
      examination.answer = Self.edgeFault(405)
      return examination
    }
    if let refusal = authorizationFault(request, asked, now) {
      examination.answer = refusal.answer
      return examination
    }
    guard let type = request.header("content-type"), type.lowercased().hasPrefix("application/json") else {
      examination.answer = FCMError.notJSON("The content type must be application/json.").answer
      return examination
    }
    let document: JSONValue
    do { document = try JSON.parse(request.body) } catch {
      examination.answer = FCMError.notJSON(error.detail).answer
      return examination
    }
    check(document, &examination, now)
    return examination
  }

  private func authorizationFault(_ request: HTTP2ServerRequest, _ asked: String, _ now: WallTime) -> FCMError? {
    guard let token = AccessTokens.bearer(request.header("authorization")), tokens.isValid(token, now: now) else {
      return .unauthenticated
    }
    return asked == project ? nil : .denied(project: asked)
  }

  func expire(_ request: HTTP2ServerRequest) -> Bool {
    guard let token = AccessTokens.bearer(request.header("authorization")) else { return false }
    tokens.revoke(token)
    return true
  }

  private func check(_ document: JSONValue, _ examination: inout Examination, _ now: WallTime) {
    var shape = FCMShapeCheck()
    let body = shape.check(document)
    guard let message = body["message"], message.object != nil else {
      let missing = FieldViolation(field: "message", description: "The message is not set.")
      examination.answer = FCMError.fields(shape.violations.isEmpty ? [missing] : shape.violations).answer
      return
    }
    let meaning = FCMMessageCheck(message)
    examination.token = meaning.target?.token ?? ""
    let violations = shape.violations.isEmpty ? meaning.violations : shape.violations
    guard violations.isEmpty else {
      examination.answer = FCMError.fields(violations).answer
      return
    }
    guard !meaning.malformedRegistration else {
      examination.answer = FCMError.badRegistration.answer
      return
    }
    let rehearsal = body["validate_only"]?.bool == true
    examination.valid = true
    examination.answer = success(id: rehearsal ? "fake_message_id" : nextID(now))
    examination.rehearsal = rehearsal
  }

  private func success(id: String) -> VendorAnswer {
    let name = "projects/\(project)/messages/\(id)"
    return VendorAnswer(
      status: 200, headers: [Header("content-type", "application/json; charset=UTF-8")],
      body: JSONValue.object([JSONMember("name", .string(name))]).encoded, name: name)
  }

  private func nextID(_ now: WallTime) -> String {
    messages += 1
    let digits = String(messages, radix: 16)
    return "0:\(now.milliseconds * 1000)%\(String(repeating: "0", count: max(0, 16 - digits.count)))\(digits)"
  }

  /// The project in `/v1/projects/<project>/messages:send`.
  private static func project(in path: String) -> String? {
    let bare = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)[0]
    guard bare.hasPrefix("/v1/projects/"), bare.hasSuffix("/messages:send") else { return nil }
    let project = bare.dropFirst("/v1/projects/".count).dropLast("/messages:send".count)
    return project.isEmpty || project.contains("/") ? nil : String(project)
  }

  /// What the vendor's edge answers to a path it does not know: HTML.
  private static func edgeFault(_ status: Int) -> VendorAnswer {
    VendorAnswer(
      status: status, reason: status == 404 ? "NotFound" : "MethodNotAllowed",
      headers: [Header("content-type", "text/html; charset=UTF-8")],
      body: Array("<!DOCTYPE html>\n<html lang=en><title>Error \(status)</title><p><b>\(status).</b></html>\n".utf8))
  }

  func answer(_ reply: Rule.Reply, to examination: Examination) -> VendorAnswer {
    guard reply.status != 200 else { return reply.filling(examination.answer) }
    var answer = FCMError.named(reply.reason, code: reply.status, project: project).answer
    answer.status = reply.status
    if let wait = reply.retryAfter { answer.headers.append(Header("retry-after", wait)) }
    return reply.filling(answer)
  }
}
