import Configuration
import Glibc

extension FileContent {
  static let maximumBytes = 64 << 20

  /// Nil if it cannot be read or is larger than 64 MiB.
  static func read(_ path: String) -> [UInt8]? {
    read(path, upTo: maximumBytes).flatMap { $0.count > maximumBytes ? nil : $0 }
  }

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Replaces the file by one that only this user can read; false if it cannot.
  static func write(_ content: [UInt8], to path: String) -> Bool {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { return false }
    defer { close(file) }
    return content.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == content.count
  }
}
