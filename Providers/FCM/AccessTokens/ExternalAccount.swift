import Domain
import JSON

/// Workload identity federation (protocols/fcm.md section 2.3): a proof of another identity provider's, from a file or
/// a URL, exchanged for a token, and that for one of a service account where the file says so.
struct ExternalAccount: TokenSource {
  /// Where the proof comes from, and how it is read.
  struct Source: Hashable, Sendable {
    var url: String
    var headers: [Header]
    /// The member of a JSON document; nil: the whole text.
    var field: String?
    var isFile: Bool { url.hasPrefix("file://") }
  }

  let audience: String
  let proofType: String
  let tokenURL: String
  let impersonationURL: String?
  let source: Source

  static let setting = "external_account_file"
  static let exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
  static let accessToken = "urn:ietf:params:oauth:token-type:access_token"
  static let lifetime: Int64 = 3600

  init(file: [UInt8]) throws(CredentialFault) {
    let document: JSONValue
    do { document = try JSON.parse(file, maximumDepth: 8) } catch { throw Self.fault("no JSON: \(error.detail)") }
    guard document["type"]?.string == "external_account" else {
      throw Self.fault("its type is not external_account")
    }
    func field(_ name: String) throws(CredentialFault) -> String {
      guard let text = document[name]?.string, !text.isEmpty else { throw Self.fault("\(name) is missing") }
      return text
    }
    audience = try field("audience")
    proofType = try field("subject_token_type")
    tokenURL = try field("token_url")
    impersonationURL = document["service_account_impersonation_url"]?.string
    guard TokenURL.isSafe(tokenURL), impersonationURL.map(TokenURL.isSafe) != false else {
      throw Self.fault("one of its URLs is neither https nor on this machine")
    }
    guard let source = document["credential_source"] else { throw Self.fault("credential_source is missing") }
    self.source = try Self.source(source)
  }

  private static func source(_ value: JSONValue) throws(CredentialFault) -> Source {
    guard value["environment_id"] == nil, value["executable"] == nil, value["certificate"] == nil else {
      throw CredentialFault(
        setting: setting, problem: "its credential_source is of an unsupported kind (only file and url are supported)",
        fix: "create the file for a source of type file or url")
    }
    var field: String?
    if let format = value["format"], format["type"]?.string == "json" {
      guard let name = format["subject_token_field_name"]?.string, !name.isEmpty else {
        throw fault("credential_source.format names no subject_token_field_name")
      }
      field = name
    }
    if let path = value["file"]?.string {
      guard path.hasPrefix("/"), !path.utf8.contains(0) else {
        throw fault("credential_source.file is not an absolute path")
      }
      return Source(url: "file://" + path, headers: [], field: field)
    }
    guard let url = value["url"]?.string, TokenURL.isSource(url) else {
      throw fault("credential_source has neither a file nor a url that is https or this machine's own")
    }
    var headers: [Header] = []
    for member in value["headers"]?.object ?? [] {
      let name = member.key.lowercased()
      guard case .string(let text) = member.value, Header.isSafeName(name), Header.isSafeValue(text) else {
        throw fault("credential_source.headers has an invalid header")
      }
      headers.append(Header(name, text))
    }
    return Source(url: url, headers: headers, field: field)
  }

  private static func fault(_ problem: String) -> CredentialFault {
    CredentialFault(
      setting: setting, problem: problem,
      fix: "use the file that gcloud iam workload-identity-pools create-cred-config made, unchanged")
  }

  /// `name@project.iam.gserviceaccount.com` of the impersonated account, if there is one.
  private var account: String? {
    guard let path = impersonationURL, let start = path.firstRange(of: "/serviceAccounts/")?.upperBound else {
      return nil
    }
    return String(path[start...].prefix { $0 != ":" })
  }
  /// The project of the impersonated account.
  var project: String? {
    guard let domain = account?.split(separator: "@").last, domain.hasSuffix(".iam.gserviceaccount.com") else {
      return nil
    }
    return domain.split(separator: ".").first.map(String.init)
  }

  var facts: CredentialFacts {
    CredentialFacts(kind: "workload identity", name: account.map { "\($0) for \(audience)" } ?? audience)
  }

  func request(_ step: Int, brought: String, now: WallTime) -> TokenFetch {
    switch step {
    case 0: return TokenFetch(method: "GET", url: source.url, headers: source.headers)
    case 1:
      let scope = impersonationURL == nil ? TokenScope.messaging : TokenScope.platform
      let fields = [
        ("grant_type", Self.exchange), ("audience", audience), ("scope", scope),
        ("requested_token_type", Self.accessToken), ("subject_token", brought), ("subject_token_type", proofType),
      ]
      return TokenFetch(
        url: tokenURL, headers: [Header("content-type", "application/x-www-form-urlencoded")],
        body: FormText.encode(fields))
    default:
      let body = JSONValue.object([
        JSONMember("scope", .array([.string(TokenScope.messaging)])),
        JSONMember("lifetime", .string("\(Self.lifetime)s")),
      ])
      return TokenFetch(
        url: impersonationURL ?? tokenURL,
        headers: [Header("content-type", "application/json"), Header("authorization", "Bearer " + brought)],
        body: body.encoded)
    }
  }

  func read(_ answer: ProviderAnswer?, of step: Int, now: WallTime) -> TokenAnswer {
    switch step {
    case 0: return proof(in: answer)
    case 1:
      let read = TokenAnswer(answer)
      if case .token(let token, _) = read, impersonationURL != nil { return .next(token) }
      return read
    default: return impersonated(answer, now: now)
    }
  }

  private func proof(in answer: ProviderAnswer?) -> TokenAnswer {
    guard let answer else { return .passing("credential source: no answer", retryAfter: nil) }
    guard answer.status == 200 else {
      if answer.status == 429 || answer.status >= 500 || (300...399).contains(answer.status) {
        return .passing("credential source: HTTP \(answer.status)", retryAfter: answer.retryAfter)
      }
      return .refused(
        source.isFile
          ? "credential source: \(source.url.dropFirst(7)) cannot be read"
          : "credential source: it answers HTTP \(answer.status)")
    }
    let text: String?
    if let field = source.field {
      text = (try? JSON.parse(answer.body, maximumDepth: 8))?[field]?.string
    } else {
      text = String(validating: answer.body, as: UTF8.self)
    }
    let proof = text.map { String($0.drop(while: \.isWhitespace)).trimmingEnd } ?? ""
    guard !proof.isEmpty, proof.utf8.count <= TokenAnswer.longestToken, Header.isSafeValue(proof) else {
      return .refused("credential source: it holds no token in the form that the file names")
    }
    return .next(proof)
  }

  private func impersonated(_ answer: ProviderAnswer?, now: WallTime) -> TokenAnswer {
    guard let answer, answer.status == 200 else { return TokenAnswer(answer) }
    let body = try? JSON.parse(answer.body, maximumDepth: 8)
    guard let token = body?["accessToken"]?.string, TokenAnswer.isToken(token) else {
      return .passing("impersonation gives no token", retryAfter: answer.retryAfter)
    }
    let until = body?["expireTime"]?.string.flatMap { WallTime(rfc3339: $0) }
    return .token(token, seconds: until.map { ($0 - now) / 1000 } ?? Self.lifetime)
  }
}

extension String {
  fileprivate var trimmingEnd: String {
    var text = self[...]
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text)
  }
}
