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

  /// Without colours.
  private static func plain(_ line: Substring) -> String { String(line).replacing(/\u{1b}\[[0-9;]*m/, with: "") }
}
