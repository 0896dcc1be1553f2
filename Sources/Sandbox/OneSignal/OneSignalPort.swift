import Domain
import HTTP2

/// OneSignal's port, on which access tokens for FCM are given out too.
final class OneSignalPort: Vendor {
  let provider = SandboxProvider.oneSignal
  let guests = [SandboxProvider.oauth]
  private let oneSignal: OneSignalVendor
  private let oauth: OAuthEndpoints

  init(oneSignal: OneSignalVendor, oauth: OAuthEndpoints) {
    self.oneSignal = oneSignal
    self.oauth = oauth
  }

  func examine(_ request: HTTP2ServerRequest, now: WallTime) -> Examination {
    oauth.takes(request.barePath) ? oauth.examine(request, now: now) : oneSignal.examine(request, now: now)
  }

  func processed(_ examination: Examination, now: WallTime) {
    if examination.provider == nil { oneSignal.processed(examination, now: now) }
  }

  func refuses(_ reply: Rule.Reply) -> Bool { oneSignal.refuses(reply) }

  func answer(_ reply: Rule.Reply, to examination: Examination) -> VendorAnswer {
    examination.provider == .oauth
      ? TokenEndpoint.answer(reply, to: examination) : oneSignal.answer(reply, to: examination)
  }

  func partial(_ reason: String, _ picked: [String], _ examination: Examination) -> VendorAnswer {
    oneSignal.partial(reason, picked, examination)
  }
}
