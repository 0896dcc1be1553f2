import CommandFrame
import Testing

@Suite("Tables on a terminal")
struct TerminalTableTests {
  @Test("columns without content and milliseconds go, and what is too wide all the same has its widest texts cut")
  func fitted() {
    var table = Table("id", "state", "reason", "at", "count", "name", state: "state")
    table.row("msg_01", "sending", "", "2026-12-01T09:00:00.123Z", "12,501", "A name that is far too long for a line")
    table.row("msg_02", "completed", "", "2026-12-01T09:00:01.000Z", "7", "Short")
    let wide = table.fitted(to: 200).text
    #expect(!wide.contains("reason") && wide.contains("2026-12-01T09:00:00Z") && !wide.contains(".123"), "\(wide)")
    #expect(wide.contains("far too long for a line"), "\(wide)")
    for columns in [100, 80, 70] {
      let text = table.fitted(to: columns).text
      let longest = text.split(separator: "\n").map { Self.plain($0).count }.max() ?? 0
      #expect(longest <= columns, "\(columns): \(text)")
      #expect(text.contains("msg_01") && text.contains("completed") && text.contains("12,501"), "\(text)")
      #expect(text.contains("Short"), "\(text)")
    }
    #expect(table.fitted(to: 80).text.contains("…"))
    // What cannot fit is left as it is, and ends.
    #expect(table.fitted(to: 5).text.contains("msg_01"))
    #expect(table.fitted(to: 0).text == wide)
  }

  @Test("a narrow window shows when and to whom, without columns of zeros and without spare columns, and names these")
  func spare() {
    var table = Table(
      head: ["id", "state", "kind", "starts at", "audience", "failed", "accepted", "name"], state: "state",
      spare: ["kind", "failed", "accepted"])
    table.row("msg_01", "scheduled", "alert", "2026-12-01T09:00:00.000Z", "plan:pro", "0", "12", "Spring sale")
    table.row("msg_02", "scheduled", "alert", "2026-12-02T09:00:00 local", "offers", "0", "3", "")
    let wide = table.fitted(to: 200).text
    #expect(wide.contains("kind") && wide.contains("failed") && table.missing(at: 200).isEmpty, "\(wide)")
    let middle = table.fitted(to: 88).text
    #expect(middle.contains("kind") && middle.contains("accepted") && !middle.contains("failed"), "\(middle)")
    #expect(table.missing(at: 88).isEmpty)
    let narrow = table.fitted(to: 70).text
    #expect(narrow.contains("2026-12-02T09:00:00 local") && narrow.contains("plan:pro"), "\(narrow)")
    #expect(!narrow.contains("kind") && !narrow.contains("failed"), "\(narrow)")
    #expect(narrow.split(separator: "\n").allSatisfy { Self.plain($0).count <= 70 }, "\(narrow)")
    #expect(table.missing(at: 60) == ["kind", "accepted"])
  }

  /// Without colours.
  private static func plain(_ line: Substring) -> String { String(line).replacing(/\u{1b}\[[0-9;]*m/, with: "") }
}
