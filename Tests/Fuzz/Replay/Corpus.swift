import Foundation

/// The inputs in Tests/Fuzz/Corpora, a folder for each target.
enum Corpus {
  struct Input {
    var name: String
    var bytes: [UInt8]
  }
  /// Of changed inputs, for each target.
  static let rounds = 400

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Corpora")

  static func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
  }

  static func files(of target: String) throws -> [Input] {
    let folder = folder.appending(path: target)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted().map { name in
      Input(name: name, bytes: Array(try Data(contentsOf: folder.appending(path: name))))
    }
  }
}
