import Domain
import TLS

@testable import API

extension FuzzTarget {
  /// An identity token. By its first byte: all of it, or what the right key has signed as header, as payload, or as both with a line
  /// feed between.
  static let identities = FuzzTarget("identities") { bytes in
    var input = FuzzInput(bytes)
    let way = Int(input.byte()) % 4
    let token: String
    switch way {
    case 0: token = input.text()
    case 1: token = signed(input.bytes(), Array(payload.utf8))
    case 2: token = signed(Array(header.utf8), input.bytes())
    default: token = signed(input.line(), input.bytes())
    }
    guard let user = try? verifier.user(in: token, now: FuzzWorld.now) else { return }
    demand((1...1_024).contains(user.utf8.count), "a user has a name")
    // Where the payload was the right one, so is the user.
    if way == 1 { demand(user == "ana", "the user is the token's") }
  }

  private static let secret = [UInt8](repeating: 7, count: 32)
  private static let header = #"{"alg":"HS256","kid":"2026"}"#
  private static let payload = #"{"sub":"ana","iat":1780000000,"exp":1780000300}"#

  private static func signed(_ header: [UInt8], _ payload: [UInt8]) -> String {
    let input = "\(Base64URL.encode(header)).\(Base64URL.encode(payload))"
    return "\(input).\(Base64URL.encode(Digest.hmacSHA256(Array(input.utf8), key: secret)))"
  }

  private static let verifier: IdentityVerifier = {
    guard let key = try? SigningKey(scalar: Array(1...32)),
      let verifier = try? IdentityVerifier(
        [
          IdentityKey(id: "2026", algorithm: .hs256, content: secret),
          IdentityKey(id: "curve", algorithm: .es256, content: key.publicKeyPEM),
        ], app: FuzzWorld.app, lifetime: 600_000)
    else { fatalError("the keys of identity tokens do not open") }
    return verifier
  }()
}
