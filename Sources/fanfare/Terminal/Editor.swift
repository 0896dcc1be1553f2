import Configuration
import Glibc

/// The user's own editor, on a file that lives as long as it is edited.
enum Editor {
  /// What stands in the file when the editor has ended; nil if it could not be started, or ended with a fault.
  static func edit(_ text: [UInt8], name: String) -> [UInt8]? {
    let folder = ScratchFolder()
    let file = folder.write(name, String(decoding: text, as: UTF8.self) + "\n")
    // The path is ours; the editor may be a command with options.
    guard system("${VISUAL:-${EDITOR:-vi}} '\(file)'") == 0 else { return nil }
    return FileContent.read(file)
  }
}
