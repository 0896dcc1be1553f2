import Domain
import HTTP2
import JSON

/// The metadata server that machines of the vendor's cloud ask for their own access token.
final class MetadataServer: Vendor {
  let provider = SandboxProvider.oauth
  static let root = "/computeMetadata/v1/"
  private let account: String
  private let project: String
  private let tokens: AccessTokens

  init(account: String, project: String, tokens: AccessTokens) {
    self.account = account
    self.project = project
    self.tokens = tokens
  }

  func examine(_ request: HTTP2ServerRequest, now: WallTime) -> Examination {
    var examination = Examination(valid: false, answer: VendorAnswer(status: 200))
    let path = request.barePath
    examination.rehearsal = true
    examination.isSecret = true
    examination.token = account
    examination.answer.headers = [Header("metadata-flavor", "Google"), Header("content-type", "application/text")]
    guard request.method == "GET" else {
      examination.answer = Self.page(405)
      return examination
    }
    // What tells that the client means this server, and no other passed the request on.
    let isMeant = request.header("metadata-flavor") == "Google" && request.header("x-forwarded-for") == nil
    guard path == "/" || isMeant else {
      examination.answer = Self.page(403)
      return examination
    }
    let accounts = [account, "default"].map { "\(Self.root)instance/service-accounts/\($0)/" }
    switch path {
    case "/": examination.answer.body = Array("computeMetadata/\n".utf8)
    case "\(Self.root)project/project-id": examination.answer.body = Array(project.utf8)
    case accounts[0] + "email", accounts[1] + "email": examination.answer.body = Array(account.utf8)
    case accounts[0] + "token", accounts[1] + "token":
      let (token, seconds) = tokens.issue(now: now)
      examination.valid = true
      examination.answer.headers[1] = Header("content-type", "application/json")
      examination.answer.body =
        JSONValue.object([
          JSONMember("access_token", .string(token)), JSONMember("expires_in", .integer(seconds)),
          JSONMember("token_type", .string("Bearer")),
        ]).encoded
    default: examination.answer = Self.page(404)
    }
    return examination
  }

  func answer(_ reply: Rule.Reply, to examination: Examination) -> VendorAnswer {
    TokenEndpoint.answer(reply, to: examination)
  }

  private static func page(_ status: Int) -> VendorAnswer {
    VendorAnswer(
      status: status, reason: status == 403 ? "Forbidden" : status == 404 ? "NotFound" : "MethodNotAllowed",
      headers: [Header("metadata-flavor", "Google"), Header("content-type", "text/html; charset=UTF-8")],
      body: Array("<!DOCTYPE html>\n<html lang=en><title>Error \(status)</title></html>\n".utf8))
  }
}
