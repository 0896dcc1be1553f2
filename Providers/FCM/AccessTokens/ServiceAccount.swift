import Domain
import JSON
import TLS

/// The fields of a service-account key file that are used (protocols/fcm.md section 2.1).
struct ServiceAccount: TokenSource {
  let project: String
  let email: String
  let keyID: String?
  let tokenURL: String
  let key: SigningKey

  init(file: [UInt8]) throws(CredentialFault) {
    let document: JSONValue
    do { document = try JSON.parse(file, maximumDepth: 4) } catch {
      throw Self.fault("no JSON: \(error.detail)")
    }
    guard document["type"]?.string == "service_account" else {
      throw document["type"]?.string == "external_account"
        ? CredentialFault(
          setting: "service_account_file", problem: "it is the file of a workload identity",
          fix: "name it external_account_file")
        : Self.fault("its type is not service_account")
    }
    func field(_ name: String) throws(CredentialFault) -> String {
      guard let text = document[name]?.string, !text.isEmpty else { throw Self.fault("\(name) is missing") }
      return text
    }
    project = try field("project_id")
    email = try field("client_email")
    keyID = document["private_key_id"]?.string
    tokenURL = try field("token_uri")
    guard TokenURL.isSafe(tokenURL) else { throw Self.fault("token_uri is neither https nor on this machine") }
    do { key = try SigningKey(pem: Array(try field("private_key").utf8), for: .rs256) } catch let fault as KeyFault {
      throw Self.fault("private_key is no RSA key in PKCS#8 PEM: \(fault.reason)")
    } catch let fault as CredentialFault {
      throw fault
    } catch {
      throw Self.fault("private_key cannot be read")
    }
  }

  private static func fault(_ problem: String) -> CredentialFault {
    CredentialFault(
      setting: "service_account_file", problem: problem, fix: "use the key file as downloaded, unchanged")
  }

  static let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
  static let assertionSeconds: Int64 = 3600

  var facts: CredentialFacts {
    CredentialFacts(kind: "service account key", name: email + (keyID.map { ", key \($0)" } ?? ""))
  }

  func read(_ answer: ProviderAnswer?, of step: Int, now: WallTime) -> TokenAnswer { TokenAnswer(answer) }

  /// The token request of protocols/fcm.md section 2.1, signed now.
  func request(_ step: Int, brought: String, now: WallTime) -> TokenFetch {
    var header = [JSONMember("alg", .string("RS256")), JSONMember("typ", .string("JWT"))]
    header.set("kid", keyID)
    let claims = [
      JSONMember("iss", .string(email)), JSONMember("scope", .string(TokenScope.messaging)),
      JSONMember("aud", .string(tokenURL)), JSONMember("iat", .integer(now.seconds)),
      JSONMember("exp", .integer(now.seconds + Self.assertionSeconds)),
    ]
    let parts = [header, claims].map { Base64URL.encode(JSONValue.object($0).encoded) }
    let signed = parts.joined(separator: ".")
    let assertion = signed + "." + Base64URL.encode(key.sign(Array(signed.utf8)))
    return TokenFetch(
      url: tokenURL, headers: [Header("content-type", "application/x-www-form-urlencoded")],
      body: Array("grant_type=\(Self.grant)&assertion=\(assertion)".utf8))
  }
}
