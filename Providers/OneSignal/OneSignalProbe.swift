import Domain

/// The list of the app's notifications, of which one is asked for: it needs the same key as sending, and changes nothing
/// (protocols/onesignal.md section 8).
extension OneSignalAccount {
  func probe(authorization: String) -> ProviderRequest? {
    ProviderRequest(
      method: "GET", path: "/notifications?app_id=\(appID)&limit=1",
      headers: [Header("authorization", authorization, indexed: false)], body: [])
  }

  func read(probe answer: ProviderAnswer) -> ProbeFinding {
    let reply = OneSignalReply(answer.body)
    let reason = reply?.reason(status: answer.status) ?? "HTTP \(answer.status)"
    switch answer.status {
    case 200 where reply != nil: return .proven("OneSignal showed the notifications of app \(appID)")
    case 401, 403:
      return .refused("HTTP \(answer.status), \(reason): put an app API key of app \(appID) into api_key_file")
    case 400, 404: return .refused("HTTP \(answer.status), \(reason): compare app_id with Settings, Keys & IDs")
    default: return .unclear(reason)
    }
  }
}
