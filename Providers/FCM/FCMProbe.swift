import Domain

/// A message to a topic that FCM checks and does not send (protocols/fcm.md section 1).
extension FCMAccount {
  func probe(authorization: String) -> ProviderRequest? {
    ProviderRequest(
      path: "/v1/projects/\(project)/messages:send",
      headers: [
        Header("content-type", "application/json"), Header("authorization", authorization, indexed: false),
      ],
      body: Array(#"{"validate_only":true,"message":{"topic":"fanfare-check","data":{"check":"1"}}}"#.utf8))
  }

  func read(probe answer: ProviderAnswer) -> ProbeFinding {
    let error = FCMError(answer)
    let advice = "is the Firebase Cloud Messaging API on, and may this account send for the project \(project)?"
    switch answer.status {
    case 200 where FCMError.messageName(answer.body) != nil:
      return .proven("FCM accepted a test message that it does not deliver, project \(project)")
    case 401, 403: return .refused("\(error.reason): \(advice)")
    case 404: return .refused("\(error.reason): there is no project \(project), or the account does not see it")
    default: return .unclear(error.reason)
    }
  }
}
