import Glibc

/// Whole files.
package enum FileContent {
  /// 64 MiB: the bound of `read`, far above every file that a configuration names.
  package static let maximumBytes = 64 << 20

  /// Nil if it cannot be read or is larger than 64 MiB.
  package static func read(_ path: String) -> [UInt8]? {
    read(path, upTo: maximumBytes).flatMap { $0.count > maximumBytes ? nil : $0 }
  }

  /// Nil if it cannot be read. Of one that is longer than `maximum` bytes a little more than those.
  package static func read(_ path: String, upTo maximum: Int) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    return read(descriptor: file, upTo: maximum)
  }

  /// From where the descriptor stands; the caller closes it.
  static func read(descriptor file: Int32, upTo maximum: Int) -> [UInt8]? {
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

  /// What changes whenever a file is written, replaced, or given to other users; links are followed.
  package struct Mark: Hashable, Sendable {
    private let numbers: [Int]
    fileprivate init(_ status: stat) {
      numbers = [
        Int(truncatingIfNeeded: status.st_dev), Int(truncatingIfNeeded: status.st_ino), status.st_size,
        status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec,
      ]
    }
  }

  /// Nil: it is not there, or hidden.
  package static func mark(_ path: String) -> Mark? {
    var status = stat()
    return stat(path, &status) == 0 ? Mark(status) : nil
  }

  /// Of any kind, also a folder; a link that points nowhere does not exist. It need not be readable.
  package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Both exist, and are one file under two names or one.
  package static func isSameFile(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    guard stat(one, &first) == 0, stat(other, &second) == 0 else { return false }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }

  /// Replaces the file's content; false if not all of it was written. A new file is readable by this user only; one
  /// that is already there keeps its mode.
  package static func write(_ content: [UInt8], to path: String) -> Bool {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { return false }
    defer { close(file) }
    return content.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == content.count
  }
}
