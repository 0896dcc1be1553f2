import CommandFrame
import Glibc

/// A temporary folder that only this user can read, removed with all it holds when this object goes.
package final class ScratchFolder: Sendable {
  package let path: String

  /// Where none can be made it says so, and ends the process.
  package init() {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    // A socket's path must fit 107 bytes.
    var template = Array("\(base.utf8.count > 60 ? "/tmp" : base)/fanfare.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      Terminal.complain("cannot create a temporary folder", "set TMPDIR to a folder that you may write to")
      exit(ExitCode.failure.rawValue)
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { Self.remove(path) }

  /// The path of a file in it, there or not.
  package func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file that only this user can read; its path.
  @discardableResult
  package func write(_ name: String, _ content: String) -> String {
    let file = open(self.file(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    precondition(file >= 0, "a file in a folder of our own cannot be made")
    Terminal.write(content, to: file)
    close(file)
    return self.file(name)
  }

  /// Makes a folder in it; its path.
  package func folder(_ name: String) -> String {
    mkdir(file(name), 0o700)
    return file(name)
  }

  private static func remove(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    if status.st_mode & S_IFMT == S_IFDIR {
      if let folder = opendir(path) {
        while let entry = readdir(folder) {
          let name = withUnsafePointer(to: &entry.pointee.d_name) {
            $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
          }
          if name != ".", name != ".." { remove("\(path)/\(name)") }
        }
        closedir(folder)
      }
      rmdir(path)
    } else {
      unlink(path)
    }
  }
}
