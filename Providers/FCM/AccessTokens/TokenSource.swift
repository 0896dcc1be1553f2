import Domain

/// How an access token is come by: one request after the other, each with what the one before brought.
protocol TokenSource: Sendable {
  /// The request of step 0, 1 … `brought`: by the step before; empty for the first.
  func request(_ step: Int, brought: String, now: WallTime) -> TokenFetch
  /// What its answer says; nil: there was none.
  func read(_ answer: ProviderAnswer?, of step: Int, now: WallTime) -> TokenAnswer
  var facts: CredentialFacts { get }
}

/// What every source asks for.
enum TokenScope {
  static let messaging = "https://www.googleapis.com/auth/firebase.messaging"
  /// Of a federated token that does nothing but impersonate.
  static let platform = "https://www.googleapis.com/auth/cloud-platform"
}

enum TokenURL {
  /// What is sent there is worth an access token: only over TLS, or not leaving this machine.
  static func isSafe(_ url: String) -> Bool {
    guard url.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return false }
    if url.hasPrefix("https://"), url.utf8.count > 8 { return true }
    return isPlain(url, hosts: ["127.0.0.1", "localhost", "[::1]"])
  }

  /// Where a machine's own metadata server gives proofs of what it is.
  static func isSource(_ url: String) -> Bool {
    isSafe(url) || isPlain(url, hosts: ["169.254.169.254", "metadata.google.internal"])
  }

  private static func isPlain(_ url: String, hosts: [String]) -> Bool {
    guard url.hasPrefix("http://"), url.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return false }
    let authority = url.dropFirst(7).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    if authority.contains("@") { return false }
    return hosts.contains { host in
      guard authority.hasPrefix(host) else { return false }
      let port = authority.dropFirst(host.count)
      return port.isEmpty || (port.first == ":" && port.dropFirst().allSatisfy(\.isWholeNumber))
    }
  }
}
