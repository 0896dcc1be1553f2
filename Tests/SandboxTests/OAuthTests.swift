import Domain
import HTTPClient
import JSON
import Sandbox
import Support
import Testing

@Suite(.timeLimit(.minutes(6 * Sanitizer.slowness))) struct OAuthTests {
  private func opensFCM(_ token: String?, _ rig: SandboxRig) async throws -> Int? {
    let client = try rig.connect(port: rig.sandbox.ports.fcm)
    defer { client.close() }
    return await client.send(rig.fcmRequest(#"{"message":{"token":"t1","data":{"k":"v"}}}"#, bearer: token ?? ""))
      .status
  }

  @Test("workload identity: the file's token is exchanged, then becomes the account's; both open FCM")
  func workload() async throws {
    try await SandboxRig.run { rig in
      let file = try JSON.parse(rig.content(of: "workload-identity.json"))
      #expect(file["type"]?.string == "external_account")
      #expect(file["credential_source"]?["file"]?.string?.hasSuffix("/workload-identity.token") == true)
      let subject = String(decoding: try rig.content(of: "workload-identity.token"), as: UTF8.self)
      func exchange(_ changes: [String: String] = [:]) async throws -> JSONValue {
        var form = [
          "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
          "audience": file["audience"]?.string ?? "", "scope": "https://www.googleapis.com/auth/cloud-platform",
          "requested_token_type": "urn:ietf:params:oauth:token-type:access_token", "subject_token": subject,
          "subject_token_type": file["subject_token_type"]?.string ?? "",
        ]
        form.merge(changes) { $1 }
        let body = form.map { "\($0.key)=\($0.value.replacing(":", with: "%3A").replacing("/", with: "%2F"))" }
        let answer = try await rig.http.send(
          HTTPClientRequest(
            url: file["token_url"]?.string ?? "",
            headers: [Header("content-type", "application/x-www-form-urlencoded")],
            body: Array(body.joined(separator: "&").utf8)))
        return try JSON.parse(answer.body)
      }
      let federated = try await exchange()["access_token"]?.string
      #expect(try await opensFCM(federated, rig) == 200)
      for (field, value, word) in [
        ("audience", "//iam.googleapis.com/other", "invalid_target"), ("subject_token", "a.b.c", "invalid_grant"),
        ("scope", "openid", "invalid_scope"), ("grant_type", "password", "unsupported_grant_type"),
        ("subject_token_type", "saml", "invalid_request"),
      ] {
        #expect(try await exchange([field: value])["error"]?.string == word)
      }
      func impersonate(_ bearer: String) async throws -> ProviderAnswer {
        try await rig.http.send(
          HTTPClientRequest(
            url: file["service_account_impersonation_url"]?.string ?? "",
            headers: [Header("authorization", "Bearer \(bearer)"), Header("content-type", "application/json")],
            body: Array(
              #"{"scope":["https://www.googleapis.com/auth/firebase.messaging"],"lifetime":"3600s"}"#.utf8)))
      }
      let own = try JSON.parse(try await impersonate(federated ?? "").body)
      #expect(own["expireTime"]?.string.flatMap { WallTime(rfc3339: $0) } != nil)
      #expect(try await opensFCM(own["accessToken"]?.string, rig) == 200)
      #expect(try await impersonate("ya29.other").status == 401)
    }
  }

  @Test("the metadata server wants its header, and gives project, account and token")
  func metadata() async throws {
    try await SandboxRig.run { rig in
      func get(_ path: String, _ headers: [Header] = [Header("metadata-flavor", "Google")]) async throws
        -> ProviderAnswer
      {
        try await rig.http.send(
          HTTPClientRequest(
            method: "GET", url: "http://127.0.0.1:\(rig.sandbox.ports.metadata)\(path)", headers: headers))
      }
      let root = "/computeMetadata/v1/"
      let account = "\(root)instance/service-accounts/default"
      let answer = try await get("\(account)/token?scopes=https://www.googleapis.com/auth/firebase.messaging")
      #expect(answer.header("metadata-flavor") == "Google")
      #expect(try await opensFCM(JSON.parse(answer.body)["access_token"]?.string, rig) == 200)
      #expect(String(decoding: try await get("\(root)project/project-id").body, as: UTF8.self) == "demo-app")
      #expect(try await get("\(account)/token", []).status == 403)
      let forwarded = [Header("metadata-flavor", "Google"), Header("x-forwarded-for", "10.0.0.1")]
      #expect(try await get("\(account)/token", forwarded).status == 403)
      #expect(try await get("\(root)instance/id").status == 404)
      try await rig.rules(#"[{"provider":"oauth","status":503,"times":1}]"#)
      #expect(try await get("\(account)/token").status == 503)
    }
  }
}
