import Domain
import HTTPServer
import Store
import Testing

@testable import Console

@Suite("What forms of keys and tags ask for")
struct FormTests {
  private func visit(_ body: String, query: [(name: String, value: String)] = []) throws -> Visit {
    let request = HTTPServerRequest(
      method: body.isEmpty ? "GET" : "POST", path: "/console/people", query: query,
      headers: [Header("content-type", "application/x-www-form-urlencoded")], body: Array(body.utf8),
      address: try #require(NetworkAddress("127.0.0.1")))
    return Visit(request, ConsoleSettings())
  }

  @Test("a change of tags and its undoing come out even, whatever the tag is")
  func undo() throws {
    for tag in ["vip", "plan:pro", "<script>", "a b", "ü", "…"] {
      for (adds, before) in [(true, ["x"]), (false, ["x", tag])] {
        let act = TagAct(adds: adds, tag: tag)
        let after = adds ? ["x", tag] : ["x"]
        #expect(act.isSeen(in: after) && !act.isSeen(in: before) && act.reverse.isSeen(in: before))
        #expect(act.edit == .object([JSONMember(adds ? "add" : "remove", .array([.string(tag)]))]))
        #expect(act.reverse.edit != act.edit && act.reverse.reverse == act)
        let link = Link(parts: ["devices", "d"], query: act.query).text
        #expect(!link.contains("<") && link.hasPrefix("/console/devices/d?"))
        #expect(TagAct.done(try visit("", query: act.query)) == act)
      }
    }
  }

  @Test("a form of tags that says something else is none; white space around a tag is not meant")
  func tagForms() throws {
    #expect(TagAct(try visit("act=add&tag=+vip+")) == TagAct(adds: true, tag: "vip"))
    #expect(TagAct(try visit("act=remove&tag=vip")) == TagAct(adds: false, tag: "vip"))
    for body in ["act=add&tag=", "act=add&tag=+", "tag=vip", "act=drop&tag=vip", "act=add"] {
      #expect(TagAct(try visit(body)) == nil, "\(body)")
    }
    #expect(TagAct.done(try visit("")) == nil)
  }

  @Test("a mark is 32 digits, each another; what is none is not taken")
  func marks() throws {
    let mark = Mark.new()
    let given = Mark.given(try visit("mark=" + mark))
    #expect(given == mark && mark != Mark.new())
    for wrong in ["", "a", mark + "0", mark.uppercased() + "G", String(repeating: "g", count: 32)] {
      #expect(Mark.given(try visit("mark=" + wrong)) == nil, "\(wrong)")
    }
  }

  @Test("the end of a key is the choice, or the end of a day, which counts first")
  func ends() throws {
    let now = try #require(WallTime(rfc3339: "2026-01-31T12:00:00Z"))
    func end(_ span: String, _ until: String = "") -> String?? { KeyEnd.chosen(span: span, until: until, now: now) }
    #expect(end("kept") == .none && end("") == .none && end("31") == .none)
    #expect(end("never") == .some(nil))
    let day = try #require(WallTime(rfc3339: "2026-02-01T12:00:00Z"))
    #expect(end("1") == .some(day.rfc3339))
    let night = try #require(WallTime(rfc3339: "2026-03-01T00:00:00Z"))
    #expect(end("never", "2026-02-28") == .some(night.rfc3339))
    // The API says what is wrong with it.
    for wrong in ["tomorrow", "2026-02-31", "2026-02-28T00:00:00Z"] { #expect(end("1", wrong) == .some(wrong)) }
  }

  @Test("addresses stand between spaces and commas, and are bounded; days are whole")
  func lists() {
    #expect(
      KeyPages.addresses(" 192.0.2.7, 10.0.0.0/8;2001:db8::/32\n") == ["192.0.2.7", "10.0.0.0/8", "2001:db8::/32"])
    #expect(KeyPages.addresses(String(repeating: "a ", count: 5_000)).count == 200)
    #expect(Day.time("from", "2026-02-28") == "2026-02-28T00:00:00Z")
    #expect(Day.time("to", "2026-02-28").hasPrefix("2026-03-01T00:00:00"))
    #expect(Day.time("key", "2026-02-28") == "2026-02-28" && Day.time("to", "x") == "x")
  }

  @Test("each right has words, and each outcome of an act")
  func words() {
    #expect(Set(ScopeWords.all.keys) == Set(Scope.allCases.map(\.rawValue)))
    #expect(Set(AuditWords.all.keys) == Set(AuditEntry.Outcome.allCases.map(\.rawValue)))
  }
}
