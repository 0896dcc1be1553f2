import CommandFrame
import Glibc

/// The file that refused lines of an import go to. It is opened before the first line is sent, and changed when the first one
/// is refused: what an earlier import left there stays until then.
final class RejectsFile {
  let path: String
  private let descriptor: Int32
  private let isNew: Bool
  private var isBegun = false
  /// Not all could be written.
  private(set) var isBroken = false

  init(_ path: String) throws(UsageProblem) {
    self.path = path
    isNew = access(path, F_OK) != 0
    descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw UsageProblem(
        text: "--rejects \(path) cannot be written: \(String(cString: strerror(errno))); nothing is imported")
    }
  }
  deinit {
    if isNew, !isBegun { unlink(path) }
    close(descriptor)
  }

  /// `head`: what the file begins with, before the first line.
  func append(_ line: [UInt8], head: [UInt8]?) {
    if !isBegun {
      begin()
      if let head { write(head + [UInt8(ascii: "\n")]) }
    }
    write(line + [UInt8(ascii: "\n")])
  }

  /// `isComplete`: all lines were answered, so that an empty file says that none was refused.
  func end(isComplete: Bool) {
    if isComplete, !isBegun, !isNew { begin() }
  }

  private func begin() {
    isBegun = true
    // What is no file, as a pipe, has nothing to lose.
    _ = ftruncate(descriptor, 0)
  }

  private func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty, !isBroken {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count <= 0 { isBroken = true } else { rest = rest.dropFirst(count) }
    }
  }
}
