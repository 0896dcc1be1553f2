import Domain

/// The service account of the machine, from the metadata server of the cloud it runs in (protocols/fcm.md section 2.2).
struct MetadataServer: TokenSource {
  /// `default`, or an account's address.
  let account: String
  let host: String

  static let vendorHost = "metadata.google.internal"

  init(account: String, host: String) throws(CredentialFault) {
    let isAccount =
      (1...256).contains(account.utf8.count)
      && account.utf8.allSatisfy { byte in
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@".utf8.contains(byte)
      }
    guard isAccount else {
      throw CredentialFault(
        setting: "metadata_server", problem: "\"\(account.prefix(60))\" is not the name of a service account",
        fix: "set it to \"default\", or to the address of a service account of the machine. Its host is metadata_host")
    }
    let isHost =
      (1...256).contains(host.utf8.count)
      && host.utf8.allSatisfy { byte in
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:[]".utf8.contains(byte)
      }
    guard isHost else {
      throw CredentialFault(
        setting: "metadata_host", problem: "\"\(host.prefix(60))\" is not a host",
        fix: "leave it out for \(Self.vendorHost), or use 169.254.169.254")
    }
    self.account = account
    self.host = host
  }

  var facts: CredentialFacts { CredentialFacts(kind: "metadata server", name: "account \(account) at \(host)") }

  func request(_ step: Int, brought: String, now: WallTime) -> TokenFetch {
    TokenFetch(
      method: "GET",
      url: "http://\(host)/computeMetadata/v1/instance/service-accounts/\(account)/token?scopes="
        + FormText.encode(TokenScope.messaging),
      headers: [Header("metadata-flavor", "Google")])
  }

  func read(_ answer: ProviderAnswer?, of step: Int, now: WallTime) -> TokenAnswer {
    if answer?.status == 404 { return .refused("metadata server: the machine has no service account \(account)") }
    return TokenAnswer(answer)
  }
}
