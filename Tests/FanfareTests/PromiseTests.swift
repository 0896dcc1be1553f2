import Configuration
import Domain
import Foundation
import Gateway
import Testing

@Suite("What is written down is proven")
struct PromiseTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The test files by their names, each with its module (the folder in `Tests`) and the titles of its tests.
  private static func files() throws -> [String: [(module: String, titles: [String])]] {
    let tests = root.appending(path: "Tests")
    var found: [String: [(module: String, titles: [String])]] = [:]
    let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL {
      guard file.pathExtension == "swift" else { continue }
      let text = try String(contentsOf: file, encoding: .utf8)
      let titles = text.matches(of: /@Test\(\s*"((?:[^"\\]|\\.)*)"/).map { String($0.1) }
      let module = file.pathComponents[tests.pathComponents.count]
      found[file.deletingPathExtension().lastPathComponent, default: []].append((module, titles))
    }
    return found
  }

  /// The titles of the file that a page names, as `Name` or, where several have that name, as `Module/Name`.
  private static func titles(
    of name: Substring, in files: [String: [(module: String, titles: [String])]]
  ) -> Result<[String], Ambiguity> {
    let parts = name.split(separator: "/")
    let found = files[String(parts.last ?? "")] ?? []
    let meant = parts.count == 1 ? found : found.filter { $0.module == parts[0] }
    switch meant.count {
    case 0: return .failure(Ambiguity(text: "no test file is called \(name)"))
    case 1: return .success(meant[0].titles)
    default: return .failure(Ambiguity(text: "name one of \(meant.map { "\($0.module)/\(name)" }.sorted())"))
    }
  }
  private struct Ambiguity: Error { var text: String }

  /// Rows of two columns: what is said, and its proof.
  private static func rows(of page: String) throws -> [(promise: String, proof: String)] {
    try String(contentsOf: root.appending(path: page), encoding: .utf8).split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false)
      guard cells.count == 4, cells[0].isEmpty, !cells[2].contains("---") else { return nil }
      return (String(cells[1]), String(cells[2]))
    }
  }

  private func check(_ page: String, everyRow: Bool) throws {
    let files = try Self.files()
    for (promise, proof) in try Self.rows(of: page) where ![" Proven by ", " Shown by ", " Test "].contains(proof) {
      var file = ""
      var titles: [String] = []
      var proofs = 0
      for part in proof.matches(of: /`([\w\/]+)`|"([^"]+)"/) {
        if let name = part.1 {
          guard name.first?.isUppercase == true else { continue }
          (file, titles) = (String(name), [])
          proofs += 1
          switch Self.titles(of: name, in: files) {
          case .success(let found): titles = found
          case .failure(let fault): Issue.record("\(page): \(fault.text)")
          }
        } else if let title = part.2, !file.isEmpty {
          let isKnown = titles.contains { $0 == title || title.hasSuffix("…") && $0.hasPrefix(title.dropLast()) }
          #expect(isKnown, "\(page): \(file) has no test \"\(title)\"")
        }
      }
      // What is not promised need not be shown.
      let needsNone = promise.hasPrefix(" **") && proof == " – "
      if everyRow, !needsNone { #expect(proofs > 0, "\(page): nothing proves\(promise)") }
    }
  }

  @Test("each sentence of the guarantees names a test that exists")
  func guarantees() throws {
    #expect(try Self.rows(of: "docs/guarantees.md").count > 30)
    try check("docs/guarantees.md", everyRow: true)
  }

  @Test(
    "each setting has a row with a test that shows what it changes, and no row is about a setting that is not there")
  func settings() throws {
    let rows = try Self.rows(of: "docs/settings.md")
    let named = rows.flatMap { $0.promise.matches(of: /`([a-z0-9_.]+)`/).map { String($0.1) } }
    #expect(named.count == Set(named).count, "a setting stands in two rows")
    // A provider's own are on its page, and proven by its conformance suite.
    let own = Set(Providers.terms.values.flatMap(\.settings).map { "apps.credentials.\($0.name)" })
    let known = Configuration.names(providers: Providers.terms).subtracting(own)
    #expect(known.count > 50)
    #expect(known.subtracting(named).sorted() == [])
    #expect(Set(named).subtracting(known).sorted() == [])
    try check("docs/settings.md", everyRow: true)
  }

  @Test("each promise of the page on security names a test that exists")
  func security() throws {
    #expect(try Self.rows(of: "docs/security.md").count > 5)
    try check("docs/security.md", everyRow: true)
  }

  @Test("the tests that the README names exist")
  func readme() throws { try check("README.md", everyRow: false) }
}
