import API
import Domain
import Foundation
import Intake
import Store
import Testing

/// The page is held against the words that stand in the sources, so that a new one cannot be forgotten.
@Suite("Outcomes and reasons are explained")
struct OutcomePageTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// What stands between backquotes on the page.
  private static func explained() throws -> Set<String> {
    let page = try String(contentsOf: root.appending(path: "docs/outcomes.md"), encoding: .utf8)
    return Set(page.matches(of: /`([^`]+)`/).map { String($0.1) })
  }

  private static func sources(_ folders: [String]) throws -> [(name: String, text: String)] {
    try folders.flatMap { folder in
      let files = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
      return try (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }.map {
        ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8))
      }
    }
  }

  @Test("every outcome, state, condition and problem code has its line")
  func cases() throws {
    let known =
      Outcome.allCases.map(\.rawValue) + ["pending", "sending", "retrying", "blocked"]
      + ["waiting", "failing", "unreachable"] + ProblemCode.allCases.map(\.rawValue)
      + MessageState.allCases.map(\.rawValue) + Violation.Code.allCases.map(\.rawValue)
    #expect(Set(known).subtracting(try Self.explained()).sorted() == [])
  }

  /// A line of a source in which an outcome is given a reason: a word that is in each of them, and all of it.
  private static var givingReasons: [(word: String, line: Regex<(Substring, Substring)>)] {
    [
      (
        #"reason: ""#,
        /(?:fate = |return )?\.(?:ended|rejected|blocked|dead)\((?:\.\w+, |Death\()?reason: "([A-Za-z_]+)"/
      ),
      ("eason", /[rR]eason(?:: String)? = "([a-z_]+)"/),
      (#"worded(""#, /worded\("([a-z_]+)"/),
      ("write(", /write\([^"]*"([a-z]+_[a-z_]+)"/),
      (#"?? ""#, /reason: [\w.]+ \?\? "([a-z_]+)"/),
      ("abandon(", /abandon\([^"]*"([a-z_]+)"/),
      (#"ed, ""#, /\(\.(?:skipped|failed), "([a-z_]+)"\)/),
      ("RenderFault(", /RenderFault\(.*code: "([a-z_]+)"/),
      ("static let un", /static let un(?:readable|subscribed) = "([a-z_]+)"/),
    ]
  }

  @Test("the page lists the reasons that --wait takes for no failure, and these alone")
  func wait() throws {
    let page = try String(contentsOf: Self.root.appending(path: "docs/outcomes.md"), encoding: .utf8)
    func listed(_ begin: String) throws -> Set<String> {
      let rest = try #require(page.split(separator: begin).dropFirst().first)
      let part = rest.prefix { $0 != "-" && $0 != "O" }
      return Set(part.matches(of: /`([a-z_]+)`/).map { String($0.1) })
    }
    let intended = SkipReason.allCases.filter(\.isIntended)
    #expect(try listed("- always:") == Set(intended.map(\.rawValue)))
    let ofKind = SkipReason.allCases.filter { $0.isOfKind && !$0.isIntended }
    #expect(try listed("- in a message to an audience or to everyone also:") == Set(ofKind.map(\.rawValue)))
    for other in ["docs/operations.md", "docs/audiences.md", "docs/tasks.md"] {
      let text = try String(contentsOf: Self.root.appending(path: other), encoding: .utf8)
      #expect(text.contains("outcomes.md#the-exit-code-of---wait"), "\(other)")
    }
  }

  @Test("every code of a warning has its line")
  func warnings() throws {
    var codes: Set<String> = []
    for (_, text) in try Self.sources(["Sources/API", "Sources/Intake"]) {
      for line in Self.linesWithText(of: text) {
        for pattern in [
          #/code: "([a-z_]+)"/#, #/warn\(.*?, "([a-z_]+)",/#, #/^ +fields\.place.*, "([a-z_]+)",/#,
          #/\("(unknown_[a-z]+)", "/#,
        ] {
          for match in line.matches(of: pattern) { codes.insert(String(match.1)) }
        }
      }
    }
    #expect(
      codes.isSuperset(of: ["moved", "no_targets", "unknown_language", "clock_ahead", "partly_localized", "ignored"]),
      "\(codes)")
    #expect(codes.union(["left_out", "mapped"]).subtracting(try Self.explained()).sorted() == [])
  }

  /// Lines with a text in them: the others are most, and matching one takes long in a debug build.
  private static func linesWithText(of source: String) -> [String] {
    source.utf8.split(separator: UInt8(ascii: "\n")).filter { $0.contains(UInt8(ascii: "\"")) }
      .map { String(Substring($0)) }
  }

  @Test("every reason that the gateway gives, and every word of a vendor that it knows, has its line")
  func reasons() throws {
    var words = Set(SkipReason.allCases.map(\.rawValue))
    let givingReasons = Self.givingReasons
    for (name, text) in try Self.sources([
      "Sources/Domain", "Sources/Delivery", "Sources/Store", "Sources/API", "Providers",
    ]) {
      for line in Self.linesWithText(of: text) where !line.contains("log(") && !line.contains("report(") {
        for (word, pattern) in givingReasons where line.contains(word) {
          for match in line.matches(of: pattern) { words.insert(String(match.1)) }
        }
        if ["APNsReasons.swift", "BroadcastReasons.swift", "FCMVerdicts.swift"].contains(name),
          let key = line.firstMatch(of: #/^ +"([A-Za-z_]+)": /#)
        {
          words.insert(String(key.1))
        }
      }
    }
    // A scan that finds little proves little.
    #expect(
      words.isSuperset(of: ["no_credential", "capped", "holdout", "attempts_exhausted", "device_deleted"]), "\(words)")
    #expect(words.contains("BadDeviceToken") && words.contains("UNREGISTERED") && words.count > 60)
    #expect(words.subtracting(try Self.explained()).sorted() == [])
  }
}
