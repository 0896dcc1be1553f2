package import Domain
import Glibc
package import HTTPClient

/// Carries out what an authorization asks for: over HTTP, or from a file that another program renews. Belongs to the
/// client's loop.
package struct AccessTokenFetcher {
  private let client: HTTPClient
  private let timeout: Int64
  private static let largestFile = 65_536
  private static let fileScheme = "file://"

  package init(client: HTTPClient, timeout: Int64) {
    self.client = client
    self.timeout = timeout
  }

  /// `done` is called once; at once for a file.
  package func carry(
    _ fetch: TokenFetch, _ done: @escaping (Result<ProviderAnswer, HTTPClientFailure>) -> Void
  ) {
    guard !fetch.url.hasPrefix(Self.fileScheme) else {
      let content = Self.content(of: String(fetch.url.dropFirst(Self.fileScheme.count)))
      return done(.success(ProviderAnswer(status: content == nil ? 404 : 200, body: content ?? [])))
    }
    client.send(
      HTTPClientRequest(
        method: fetch.method, url: fetch.url, headers: fetch.headers, body: fetch.body, timeout: timeout), done)
  }

  package func carry(_ fetch: TokenFetch) async throws(HTTPClientFailure) -> ProviderAnswer {
    let result: Result<ProviderAnswer, HTTPClientFailure> = await withUnsafeContinuation { waiter in
      carry(fetch) { waiter.resume(returning: $0) }
    }
    return try result.get()
  }

  /// Small and regular, so that reading it holds up the loop no longer than a page of memory would.
  private static func content(of path: String) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= largestFile else {
      return nil
    }
    var content = [UInt8](repeating: 0, count: largestFile)
    let count = content.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
    return count < 0 ? nil : Array(content.prefix(count))
  }
}
