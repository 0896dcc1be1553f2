import Domain
import TLS

/// How an account shows APNs who it is: a token with each request (protocols/apns.md section 6), or a certificate in
/// the handshake (protocols/apns.md section 7).
enum APNsProof: Sendable {
  case token(key: SigningKey, keyID: String, teamID: String)
  case certificate(APNsCertificate)
}

extension APNsAccount {
  var clientCertificate: ClientCertificate? {
    guard case .certificate(let certificate) = proof else { return nil }
    return ClientCertificate(chain: certificate.identity.chain, key: certificate.identity.key)
  }

  var facts: CredentialFacts {
    switch proof {
    case .token(_, let keyID, let teamID):
      return CredentialFacts(
        kind: "provider token", name: "key \(keyID) of team \(teamID)", topics: coverage.bundleIDs?.keys.sorted() ?? [])
    case .certificate(let certificate):
      let own = certificate.identity.certificate
      return CredentialFacts(
        kind: "certificate", name: own.commonName ?? certificate.ownBundleID,
        expiresAt: WallTime(seconds: own.notAfter), topics: certificate.topics)
    }
  }

  func makeAuthorization(probeInterval: Int64) -> any Authorization {
    guard case .token(let key, let keyID, let teamID) = proof else { return NoAuthorization() }
    return APNsToken { now in
      let header = Base64URL.encode(Array("{\"alg\":\"ES256\",\"kid\":\"\(keyID)\"}".utf8))
      let claims = Base64URL.encode(Array("{\"iss\":\"\(teamID)\",\"iat\":\(now.seconds)}".utf8))
      let signature = Base64URL.encode(key.sign(Array("\(header).\(claims)".utf8)))
      return "\(header).\(claims).\(signature)"
    }
  }
}
