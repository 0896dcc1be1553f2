import Glibc

/// A file with a key or a password, as it was when it was opened. It is judged by its descriptor, so that nobody can
/// put another file in its place between the check and the reading.
package struct SecretFile: Sendable {
  package var content: [UInt8]
  /// It belongs to another user than this process' and than root, who could change it.
  package var isOfAnotherUser: Bool

  /// Why it is not used.
  package enum Fault: Error, Hashable, Sendable {
    case missing
    case notAFile
    case readableByOthers
    case writableByOthers
    case unreadable
  }

  /// Who may do what with a file.
  package enum Access: Sendable {
    /// Others may neither read nor write it.
    case secret
    /// Others may read it, and not write: it says what is believed.
    case trusted
    case open
  }

  /// Of a file that is longer than `maximum` bytes a little more than those are read.
  package init(_ path: String, upTo maximum: Int = 1 << 20, _ access: Access = .secret) throws(Fault) {
    // Not blocking: a pipe that nobody writes to would hold the start up.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw errno == ENOENT || errno == ENOTDIR ? .missing : .unreadable }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .unreadable }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
    switch access {
    case .secret where status.st_mode & 0o077 != 0: throw .readableByOthers
    case .trusted where status.st_mode & 0o022 != 0: throw .writableByOthers
    default: break
    }
    guard let content = FileContent.read(descriptor: file, upTo: maximum) else { throw .unreadable }
    self.content = content
    isOfAnotherUser = status.st_uid != geteuid() && status.st_uid != 0
  }
}
