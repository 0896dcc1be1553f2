import Glibc

/// Whole files.
package enum FileContent {
  /// Nil if it cannot be read. Of one that is longer than `maximum` bytes a little more than those.
  package static func read(_ path: String, upTo maximum: Int) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while content.count <= maximum {
      let count = chunk.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
      if count == 0 { return content }
      guard count > 0 else { return nil }
      content += chunk[..<count]
    }
    return content
  }
}
