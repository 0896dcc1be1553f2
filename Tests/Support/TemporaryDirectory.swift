package import Foundation

/// A directory of its own that goes with the test.
package final class TemporaryDirectory: Sendable {
  package let url: URL

  package init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "fanfare-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  package func file(_ name: String) -> URL { url.appending(path: name) }

  deinit { try? FileManager.default.removeItem(at: url) }
}
