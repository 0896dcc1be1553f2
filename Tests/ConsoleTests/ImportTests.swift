import Domain
import HTTPServer
import JSON
import Store
import Support
import Testing

@testable import Console

@Suite("Files of devices in the console")
struct ImportTests {
  private func file(_ text: String) -> ImportFile { ImportFile(Array(text.utf8)) }

  @Test("columns are guessed from their names, each field once; what nobody knows is left out")
  func guesses() {
    let columns = [
      "Email", "Push token", "External ID", "device_token", "Lang", "Attributes.plan", "Notes", "reason", "",
    ]
    #expect(
      ImportMapping(guessing: columns).choices
        == ["-", "token", "user", "-", "language", "own", "-", "-", "-"])
    #expect(
      ImportMapping(guessing: ["Attributes.plan", "token"]).query(["Attributes.plan", "token"]).map(\.value)
        == ["Attributes.plan:attributes.plan", "token:token", "true"])
    #expect(ImportMapping(guessing: ["user", "user_id"]).choices == ["user", "-"])
  }

  @Test("what is chosen is told to the import; a choice that the page does not offer is none")
  func choices() throws {
    func visit(_ body: String) throws -> Visit {
      let request = HTTPServerRequest(
        method: "POST", path: "/console/import/x",
        headers: [Header("content-type", "application/x-www-form-urlencoded")], body: Array(body.utf8),
        address: try #require(NetworkAddress("127.0.0.1")))
      return Visit(request, ConsoleSettings())
    }
    let columns = ["E:mail", "Token", "Plan", "Other"]
    let form = "c0=user&c1=token&c2=attribute&c3=nonsense&provider=fcm&keep=true"
    let mapping = ImportMapping(try visit(form), columns: columns)
    #expect(
      mapping.query(columns).map { "\($0.name)=\($0.value)" } == [
        "map=E:mail:user", "map=Token:token", "map=Plan:attributes.Plan", "map=Other:-", "set=provider:fcm",
        "keep_missing=true",
      ])
    let none = ImportMapping(try visit("provider=%3Cx%3E"), columns: columns)
    #expect(none.choices == ["-", "-", "-", "-"] && none.provider.isEmpty && !none.keepsMissing)
  }

  @Test("a mapping is read back from what the import was told, whatever the names are")
  func mappings() {
    let columns = ["Token", "user", "Plan", "Attributes.plan", "attributes.a:b", "E:mail", "Plan2", ""]
    var mapping = ImportMapping(guessing: columns)
    mapping.choices = ["token", "-", "attribute", "own", "own", "user", "tags", "-"]
    (mapping.provider, mapping.keepsMissing) = ("fcm", false)
    let again = ImportMapping(mapping.query(columns), columns: columns)
    #expect(again.choices == mapping.choices && again.provider == "fcm" && !again.keepsMissing)
    let none = ImportMapping([("map", "x"), ("set", ":"), ("set", "provider:<x>")], columns: ["x"])
    #expect(none.choices == ["-"] && none.provider.isEmpty)
    // What the import could not be told is not offered.
    #expect(ImportMapping.options(for: "") == ["-"] && ImportMapping.fault(of: "") == .importNoName)
    #expect(!ImportMapping.options(for: "a:b").contains("attribute") && ImportMapping.fault(of: "a:b") == .importColon)
    #expect(ImportMapping.options(for: "a").contains("attribute") && ImportMapping.fault(of: "a") == nil)
    for value in mapping.query(columns).map(\.value) where value.contains("a:b") { Issue.record("told: \(value)") }
  }

  @Test("a preview shows ten lines of either kind, and long cells in part")
  func previews() throws {
    let rows = (0..<30).map { "u\($0);t\($0)" }.joined(separator: "\r\n")
    let table = file("\u{feff}\n user ;token;;\r\n" + rows)
    #expect(table.isTable)
    let shown = try table.preview()
    #expect(shown.columns == ["user", "token"] && shown.rows.count == 10 && shown.rows[0] == ["u0", "t0"])
    let lines = file(
      "\n" + #"{"id":"a","tags":["x"]}"# + "\n{broken\n" + #"{"token":"\#(String(repeating: "t", count: 200))"}"#)
    let documents = try lines.preview()
    #expect(!lines.isTable && documents.columns == ["id", "tags", "token"])
    #expect(documents.rows[0] == ["a", #"["x"]"#, ""] && documents.rows[1][2].count == 81)
    for (text, fault) in [
      ("", ImportFile.Fault.empty), ("user,token\n", .empty), ("\n \n", .empty), ("{\"a\"", .empty),
      (String(repeating: "n", count: 301) + ",b\n1,2\n", .longColumn),
      ((0...150).map { "c\($0)" }.joined(separator: ",") + "\n1\n", .tooManyColumns),
    ] {
      #expect(throws: fault, "\(text.prefix(40))") { try file(text).preview() }
    }
    #expect(throws: ImportFile.Fault.self) { try ImportFile([0xFF, 0xFE, 0x61]).preview() }
  }

  @Test("the parts of a file have all its lines once, each with its number, and the head in front")
  func parts() throws {
    for isTable in [true, false] {
      var text = isTable ? "\ntoken,note\n" : ""
      for number in 0..<12_345 {
        if number % 1_000 == 0 { text += "\n" }
        text +=
          isTable ? number % 500 == 0 ? "t\(number),\"two\nlines\"\n" : "t\(number),\n" : "{\"token\":\"t\(number)\"}\n"
      }
      let file = file(text)
      let physical = text.split(separator: "\n", omittingEmptySubsequences: false)
      var parts = ImportParts(file)
      var seen = 0
      var reached = 0
      while let part = parts.next() {
        let lines = ImportParts.Lines(of: part, in: file)
        let body = String(decoding: part.body, as: UTF8.self)
        if isTable { #expect(body.contains("token,note")) }
        for (at, line) in body.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where line.contains(isTable ? /^t\d+,/ : /^\{"token/) {
          let number = at + 1 + part.shift
          #expect(physical[number - 1] == line)
          if at.isMultiple(of: 97) { #expect(lines.text(number, upTo: 2_000) == line) }
          seen += 1
        }
        #expect(part.lastLine > reached && part.body.count <= (2 << 20) + (1 << 20))
        reached = part.lastLine
        #expect(lines.text(0, upTo: 10).isEmpty && lines.text(.max, upTo: 10).isEmpty)
      }
      #expect(seen == 12_345)
    }
  }

  @Test("a quote that does not end takes no more than a part, and no file makes the parts go on for ever")
  func openQuotes() {
    var random = Seeded(seed: 5)
    for _ in 0..<200 {
      let pieces = ["\"", "\n", ",", "a", "\r\n", " ", "{", "\u{feff}"]
      let text = (0..<200).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      var parts = ImportParts(file(text))
      var count = 0
      while parts.next() != nil { count += 1 }
      #expect(count <= 2)
    }
  }

  private func result(_ line: Int, _ members: String) -> JSONValue {
    (try? JSON.parse(Array(#"{"line":\#(line),\#(members)}"#.utf8))) ?? .null
  }

  @Test("a report counts all lines, keeps a thousand refused ones, and is the same when it is read again")
  func reports() throws {
    var report = ImportReport(isTrial: true, query: [("map", "A:user"), ("keep_missing", "true")])
    for line in 1...5 { report.take(result(line, #""registration":"created""#), shift: 1) { _, _ in "" } }
    report.take(
      result(6, #""registration":"updated","warnings":[{"code":"stays_disabled"},{"code":"other"}]"#), shift: 1
    ) { _, _ in "" }
    for line in 7..<2_007 {
      let fault = #"{"pointer":"/provider","code":"unknown_value","detail":"unknown provider `p\#(line)`"}"#
      report.take(
        result(line, #""problem":{"code":"invalid_device","detail":"d","violations":[\#(fault)]}"#), shift: 1
      ) { number, most in "line \(number) of \(most)" }
    }
    report.reached = 2_007
    #expect(report.lines == 2_006 && report.refused == 2_000 && report.rejects.count == 1_000)
    #expect(report.reasons.count == 1 && report.reasons[0].count == 2_000 && report.reasons[0].line == 8)
    let again = try #require(ImportReport(report.packed))
    #expect(again.lines == report.lines && again.counts == report.counts && again.reached == 2_007 && again.isTrial)
    #expect(again.query.map(\.value) == ["A:user", "true"] && again.table == report.table && again.stopped == nil)
    for broken in ["", "{}", "[]", #"{"trial":1}"#] { #expect(ImportReport(Array(broken.utf8)) == nil) }
  }

  @Test("a trial counts an id as new once, whatever the parts of the file say; an import believes each answer")
  func parted() {
    for isTrial in [true, false] {
      var report = ImportReport(isTrial: isTrial, query: [])
      for (id, kind) in [("a", "created"), ("b", "revived"), ("a", "created"), ("b", "revived"), ("c", "moved")] {
        report.take(result(1, #""id":"\#(id)","registration":"\#(kind)""#), shift: 0) { _, _ in "" }
      }
      let told =
        isTrial ? ["created": 1, "revived": 1, "updated": 2, "moved": 1] : ["created": 2, "revived": 2, "moved": 1]
      #expect(report.counts == told)
    }
  }

  @Test("what is kept of refused lines fits into a note, whatever bytes they have")
  func bounds() throws {
    for odd in ["\u{fffd}", "\u{1}", "\"", "e\u{301}\u{301}\u{301}"] {
      var report = ImportReport(isTrial: true, query: [])
      let detail = String(repeating: odd, count: 3_000).replacing("\"", with: "'").replacing("\u{1}", with: "'")
      for line in 1...1_000 {
        report.take(
          result(line, #""problem":{"code":"x\#(line)","detail":"\#(detail)"}"#), shift: 0
        ) { _, most in String(repeating: odd, count: most) }
      }
      let packed = report.packed
      #expect(packed.count <= ConsoleUploads.longestNote && report.refused == 1_000 && report.rejects.count > 50)
      #expect(try #require(ImportReport(packed)).rejects.count == report.rejects.count)
    }
  }

  @Test("no cell of the refused lines is a formula")
  func formulas() {
    var report = ImportReport(isTrial: false, query: [])
    report.take(
      result(1, #""problem":{"code":"x","detail":"=cmd()"}"#), shift: 0
    ) { _, _ in "=HYPERLINK(\"http://evil\"),\"x\"" }
    let text = String(decoding: report.table, as: UTF8.self)
    #expect(text == "line,reason,original\r\n1,'=cmd(),\"'=HYPERLINK(\"\"http://evil\"\"),\"\"x\"\"\"\r\n")
  }

  @Test("where an expression is wrong is marked below it; a tag becomes a literal term")
  func expressions() throws {
    let lines = try #require(ExpressionFault.lines("a && (", 6))
    #expect(lines.text == "a && (" && lines.mark == "     ^")
    #expect(ExpressionFault.lines("a", 2)?.mark == " ^")
    #expect(ExpressionFault.lines("a", 3) == nil && ExpressionFault.lines("", 0) == nil)
    #expect(ExpressionFault.lines("a", .min) == nil && ExpressionFault.lines("a", .max) == nil)
    let long = try #require(ExpressionFault.lines(String(repeating: "x\n", count: 1_000), 1_500))
    #expect(long.text.count <= 100 && !long.text.contains("\n") && long.mark.count <= 100)
    #expect(AudiencePages.expression(of: #"a"b\c"#) == #""a\"b\\c""#)
  }
}
