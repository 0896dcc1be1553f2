import Glibc

/// The user's own editor.
enum Editor {
  enum End { case well, notStarted, badly }

  /// Opens a file in it, and returns when the editor has ended. The editor may be a command with options and quotes.
  static func open(_ path: String) -> End {
    let status = system("file=\(KeptFile.quoted(path)); eval \"${VISUAL:-${EDITOR:-vi}} \\\"\\$file\\\"\"")
    guard status != 0 else { return .well }
    // The shell's word for a command that it cannot find or run.
    return status & 0x7f == 0 && [126, 127].contains(status >> 8 & 0xff) ? .notStarted : .badly
  }
}
