import CommandFrame
import Configuration
import Glibc

/// A file with work of the user. It outlives this process, and goes only when `remove` is called: what was written must not be
/// lost by a fault, a crash or ctrl-C.
struct KeptFile {
  let path: String

  /// `name`: with an ending that editors know. A file of this name that is there already stays: the new one gets a number.
  init?(_ name: String, ending: String, _ content: [UInt8]) {
    guard let folder = Self.folder else { return nil }
    for number in 1...Self.most {
      let path = "\(folder)/\(name)\(number == 1 ? "" : "-\(number)").\(ending)"
      let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if file < 0, errno == EEXIST { continue }
      guard file >= 0 else { return nil }
      close(file)
      guard FileContent.write(content, to: path) else { return nil }
      self.path = path
      return
    }
    return nil
  }
  private static let most = 1_000

  /// Those that an earlier run left under this name.
  static func left(_ name: String, ending: String) -> [String] {
    guard let folder else { return [] }
    var paths: [String] = []
    for number in 1...most {
      let path = "\(folder)/\(name)\(number == 1 ? "" : "-\(number)").\(ending)"
      guard FileContent.exists(path) else { break }
      paths.append(path)
    }
    return paths
  }

  func remove() { unlink(path) }

  /// A file that an earlier run has left goes when its text was accepted. Any other file of the user stays.
  static func accepted(_ path: String) {
    guard let folder, path.hasPrefix(folder + "/"), !path.contains("/../"), unlink(path) == 0 else { return }
    Terminal.note("\(path) is no longer needed, and was removed")
  }

  /// For a command that people paste into a shell.
  var quoted: String { Self.quoted(path) }

  static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
          || "-._/:@%+=,".utf8.contains($0)
      }
    return isPlain
      ? word : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
  }

  /// `$XDG_STATE_HOME/fanfare`, else `~/.local/state/fanfare`; only this user can read it.
  private static var folder: String? {
    UserFolder.make(named: "XDG_STATE_HOME", else: ".local/state")
  }
}

/// The user's own folders, by the XDG base directories.
enum UserFolder {
  /// `fanfare` in the folder that the variable names, else in `fallback` of the home; made where it is missing. Nil: it
  /// cannot be made.
  static func make(named variable: String, else fallback: String) -> String? {
    guard let path = path(named: variable, else: fallback) else { return nil }
    var made = ""
    for step in path.split(separator: "/") {
      made += "/" + step
      mkdir(made, 0o700)
    }
    return access(path, W_OK | X_OK) == 0 ? path : nil
  }

  static func path(named variable: String, else fallback: String) -> String? {
    if let base = getenv(variable).map({ String(cString: $0) }), base.hasPrefix("/") { return base + "/fanfare" }
    guard let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") else { return nil }
    return "\(home)/\(fallback)/fanfare"
  }
}
