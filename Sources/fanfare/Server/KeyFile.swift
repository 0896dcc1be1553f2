import CommandFrame
import Configuration
import Store

/// An API key in a file of its own. A key among the arguments could be read by every user of the machine.
enum KeyFile {
  /// Nil: none is named.
  static func key(of arguments: Arguments) throws(UsageProblem) -> String? {
    guard let path = arguments.text("--key-file") else { return nil }
    let content: [UInt8]
    do throws(SecretFile.Fault) {
      content = try SecretFile(path).content
    } catch {
      throw UsageProblem(text: told(error, path))
    }
    let key = String(decoding: content, as: UTF8.self).filter { !$0.isWhitespace }
    guard KeySecret.isWellFormed(Array(key.utf8)) else {
      throw UsageProblem(text: "\(path) does not hold an API key; one begins with \(KeySecret.prefix)")
    }
    return key
  }

  private static func told(_ fault: SecretFile.Fault, _ path: String) -> String {
    switch fault {
    case .missing: "there is no file \(path)"
    case .notAFile: "\(path) is not a file"
    case .readableByOthers, .writableByOthers: "other users can read \(path): run chmod 600 \(path)"
    case .unreadable: "\(path) cannot be read by this user"
    }
  }
}
