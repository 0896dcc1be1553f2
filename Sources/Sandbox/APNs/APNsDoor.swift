import Domain
import HTTP2

/// Lets requests of one environment in: by the client certificate of their connection, or else by their provider token.
struct APNsDoor {
  let environment: APNsEnvironment
  private var tokenCheck: ProviderTokenCheck
  private var trust: [UInt64: APNsConnectionTrust] = [:]
  private var certificates: [UInt64: APNsCertificate] = [:]

  init(environment: APNsEnvironment, keys: [APNsKey]) {
    self.environment = environment
    tokenCheck = ProviderTokenCheck(keys: keys)
  }

  mutating func opened(_ connection: UInt64, _ certificate: HTTP2ClientCertificate?) {
    trust[connection] = APNsConnectionTrust()
    certificates[connection] = certificate.map { APNsCertificate($0) }
  }
  mutating func closed(_ connection: UInt64) {
    trust[connection] = nil
    certificates[connection] = nil
  }

  func hasCertificate(_ connection: UInt64) -> Bool { certificates[connection] != nil }

  /// What the request may push to. The token of a request over a certificate's connection is ignored.
  mutating func pass(
    _ connection: UInt64, authorization: String?, now: WallTime
  ) -> Result<APNsTopics, APNsRefusal> {
    if let certificate = certificates[connection] {
      guard certificate.isTrusted, !certificate.topics.isEmpty else { return .failure(.init(.badCertificate)) }
      guard certificate.environments.contains(environment) else {
        return .failure(.init(.badCertificateEnvironment))
      }
      return .success(.exactly(certificate.topics))
    }
    return trust[connection, default: APNsConnectionTrust()]
      .pass(authorization: authorization, &tokenCheck, in: environment, now: now).map(\.topics)
  }

  /// The connection is as unusable as after an expired token.
  mutating func spoil(_ connection: UInt64) { trust[connection]?.spoil() }

  /// The request's provider token counts as too old from now on. False: it has none, or a certificate let it in.
  mutating func expire(_ request: HTTP2ServerRequest) -> Bool {
    guard let authorization = request.header("authorization"), !hasCertificate(request.stream.connection) else {
      return false
    }
    if let token = APNsConnectionTrust.bearer(authorization) { tokenCheck.age(token) }
    return true
  }
}
