import Domain
import FCM
import JSON
import Testing

/// protocols/fcm.md sections 2.2 and 2.3.
@Suite("FCM access tokens without a key")
struct FCMSourceTests {
  private static let audience = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x"
  private static let impersonation =
    "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/push@demo-app.iam.gserviceaccount.com:generateAccessToken"

  private func account(_ source: String, impersonation: String? = nil, project: String? = nil) throws
    -> any ProviderAccount
  {
    var credential = Credential(id: CredentialID(rawValue: "demo/fcm"), app: AppID(rawValue: "demo"), provider: .fcm)
    let impersonate = impersonation.map { #","service_account_impersonation_url":"\#($0)""# } ?? ""
    credential.files["external_account_file"] = Array(
      #"""
      {"type":"external_account","audience":"\#(Self.audience)","token_url":"https://sts.googleapis.com/v1/token",
       "subject_token_type":"urn:ietf:params:oauth:token-type:jwt","credential_source":\#(source)\#(impersonate)}
      """#.utf8)
    credential.texts["project_id"] = project
    return try FCMProvider().open(credential)
  }

  private func fetch(_ authorization: inout any Authorization) throws -> TokenFetch {
    let need = authorization.need(now: started)
    guard case .fetch(let fetch) = need else {
      Issue.record("\(need)")
      throw CancellationError()
    }
    return fetch
  }

  @Test("the machine's own account is asked for with the vendor's header, once, and an absent one blocks")
  func metadata() throws {
    var credential = Credential(id: CredentialID(rawValue: "demo/fcm"), app: AppID(rawValue: "demo"), provider: .fcm)
    credential.texts = ["metadata_server": "default"]
    #expect(throws: CredentialFault.self) { try FCMProvider().open(credential) }
    credential.texts["project_id"] = "demo-app"
    var authorization = try FCMProvider().open(credential).makeAuthorization()
    let request = try fetch(&authorization)
    #expect(request.method == "GET")
    #expect(
      request.url
        == "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token?scopes="
        + "https%3A%2F%2Fwww.googleapis.com%2Fauth%2Ffirebase.messaging")
    #expect(request.headers == [Header("metadata-flavor", "Google")])
    authorization.fetched(ProviderAnswer(404, "Not Found"), now: started)
    guard case .unavailable(_, let reason?) = authorization.need(now: started) else {
      Issue.record("not blocked")
      return
    }
    #expect(reason.contains("default"))
    let later = started + 600_000
    guard case .fetch = authorization.need(now: later) else {
      Issue.record("not asked again")
      return
    }
    authorization.fetched(
      ProviderAnswer(200, #"{"access_token":"ya29.m","expires_in":3599,"token_type":"Bearer"}"#), now: later)
    guard case .use("Bearer ya29.m", nil) = authorization.need(now: later) else {
      Issue.record("no header")
      return
    }
  }

  @Test("a proof from a file is exchanged, and the exchanged token for one of the service account")
  func federation() throws {
    let account = try account(
      #"{"file":"/var/run/token","format":{"type":"json","subject_token_field_name":"jwt"}}"#,
      impersonation: Self.impersonation)
    #expect(account.facts.kind == "workload identity")
    #expect(account.facts.name.hasPrefix("push@demo-app.iam.gserviceaccount.com"))
    #expect(account.facts.name.hasSuffix("project demo-app"))
    var authorization = account.makeAuthorization()
    let source = try fetch(&authorization)
    #expect(source == TokenFetch(method: "GET", url: "file:///var/run/token"))
    authorization.fetched(ProviderAnswer(200, #"{"jwt":"proof+/="}"#), now: started)

    let exchange = try fetch(&authorization)
    #expect(exchange.url == "https://sts.googleapis.com/v1/token")
    let form = String(decoding: exchange.body, as: UTF8.self)
    #expect(form.hasPrefix("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&"))
    #expect(form.contains("&scope=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fcloud-platform&"))
    #expect(form.contains("&subject_token=proof%2B%2F%3D&"))
    authorization.fetched(
      ProviderAnswer(200, #"{"access_token":"federated","expires_in":3600,"token_type":"Bearer"}"#), now: started)

    let impersonation = try fetch(&authorization)
    #expect(impersonation.url == Self.impersonation)
    #expect(impersonation.headers.contains(Header("authorization", "Bearer federated")))
    try expectJSON(
      impersonation.body,
      #"{"scope":["https://www.googleapis.com/auth/firebase.messaging"],"lifetime":"3600s"}"#)
    let until = (started + 1_800_000).rfc3339
    authorization.fetched(ProviderAnswer(200, #"{"accessToken":"ya29.i","expireTime":"\#(until)"}"#), now: started)
    guard case .use("Bearer ya29.i", nil) = authorization.need(now: started) else {
      Issue.record("no header")
      return
    }
    // Renewed from the first step on, while the present token serves.
    guard case .use("Bearer ya29.i", source) = authorization.need(now: started + 1_600_000) else {
      Issue.record("no early renewal")
      return
    }
  }

  @Test("without impersonation the exchanged token is the one that is used; its source may be a URL with headers")
  func direct() throws {
    let account = try account(
      #"{"url":"http://169.254.169.254/token","headers":{"Metadata":"True"}}"#, project: "demo-app")
    var authorization = account.makeAuthorization()
    let source = try fetch(&authorization)
    #expect(source.url == "http://169.254.169.254/token" && source.headers == [Header("metadata", "True")])
    authorization.fetched(ProviderAnswer(200, "proof\n"), now: started)
    let form = String(decoding: try fetch(&authorization).body, as: UTF8.self)
    #expect(form.contains("firebase.messaging") && form.contains("&subject_token=proof&"))
    authorization.fetched(ProviderAnswer(200, #"{"access_token":"f","expires_in":3600}"#), now: started)
    guard case .use("Bearer f", nil) = authorization.need(now: started) else {
      Issue.record("no header")
      return
    }
  }

  @Test("a step that fails starts again at the first; the operator's faults block without a word of the proof")
  func failures() throws {
    var authorization = try account(#"{"file":"/t"}"#, impersonation: Self.impersonation).makeAuthorization()
    _ = try fetch(&authorization)
    authorization.fetched(ProviderAnswer(200, "secretproof"), now: started)
    _ = try fetch(&authorization)
    authorization.fetched(ProviderAnswer(503, ""), now: started)
    guard case .unavailable(let until, nil) = authorization.need(now: started) else {
      Issue.record("no rest")
      return
    }
    guard case .fetch(let again) = authorization.need(now: until) else {
      Issue.record("not asked again")
      return
    }
    #expect(again.url == "file:///t")
    authorization.fetched(ProviderAnswer(200, "secretproof"), now: until)
    guard case .fetch = authorization.need(now: until) else {
      Issue.record("no exchange")
      return
    }
    authorization.fetched(ProviderAnswer(200, #"{"access_token":"f","expires_in":3600}"#), now: until)
    guard case .fetch = authorization.need(now: until) else {
      Issue.record("no impersonation")
      return
    }
    authorization.fetched(
      ProviderAnswer(403, #"{"error":{"code":403,"message":"no","status":"PERMISSION_DENIED"}}"#), now: until)
    guard case .unavailable(_, let reason?) = authorization.need(now: until) else {
      Issue.record("not blocked")
      return
    }
    #expect(reason.contains("PERMISSION_DENIED") && !reason.contains("secretproof"))
  }

  @Test(
    "files that cannot be used name what is wrong",
    arguments: [
      #"{"environment_id":"aws1","region_url":"http://169.254.169.254/x"}"#, #"{"executable":{"command":"x"}}"#,
      #"{"file":"relative"}"#, #"{"url":"http://evil.example/token"}"#,
      #"{"url":"https://x","headers":{"a":"b\r\nc"}}"#, #"{"file":"/t","format":{"type":"json"}}"#, "{}",
    ])
  func faults(_ source: String) throws {
    let fault = #expect(throws: CredentialFault.self) { try account(source, project: "demo-app") }
    #expect(fault?.setting == "external_account_file")
  }
}
