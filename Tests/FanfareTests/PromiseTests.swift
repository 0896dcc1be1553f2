import Foundation
import Testing

@Suite("What is written down is proven")
struct PromiseTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// Titles of the tests in each file.
  private static func titles() throws -> [String: [String]] {
    var found: [String: [String]] = [:]
    let files = FileManager.default.enumerator(at: root.appending(path: "Tests"), includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      let text = try String(contentsOf: file, encoding: .utf8)
      let name = file.deletingPathExtension().lastPathComponent
      found[name, default: []] += text.matches(of: /@Test\(\s*"((?:[^"\\]|\\.)*)"/).map { String($0.1) }
    }
    return found
  }

  /// Rows of two columns: what is said, and its proof.
  private static func rows(of page: String) throws -> [(promise: String, proof: String)] {
    try String(contentsOf: root.appending(path: page), encoding: .utf8).split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
      guard cells.count == 4, cells[0].isEmpty, !cells[2].contains("---") else { return nil }
      return (String(cells[1]), String(cells[2]))
    }
  }

  private func check(_ page: String, everyRow: Bool) throws {
    let titles = try Self.titles()
    for (promise, proof) in try Self.rows(of: page) where proof != " Proven by " && proof != " Shown by " {
      var file: String?
      var proofs = 0
      for part in proof.matches(of: /`(\w+)`|"([^"]+)"/) {
        if let name = part.1 {
          guard name.first?.isUppercase == true else { continue }
          file = String(name)
          proofs += 1
          #expect(titles[String(name)] != nil, "\(page): no test file is called \(name)")
        } else if let title = part.2, let file {
          let known = titles[file] ?? []
          let isKnown = known.contains { $0 == title || title.hasSuffix("…") && $0.hasPrefix(title.dropLast()) }
          #expect(isKnown, "\(page): \(file) has no test \"\(title)\"")
        }
      }
      if everyRow { #expect(proofs > 0, "\(page): nothing proves\(promise)") }
    }
  }

  @Test("each sentence of the guarantees names a test that exists")
  func guarantees() throws {
    #expect(try Self.rows(of: "docs/guarantees.md").count > 30)
    try check("docs/guarantees.md", everyRow: true)
  }

  @Test("the tests that the README names exist")
  func readme() throws { try check("README.md", everyRow: false) }
}
