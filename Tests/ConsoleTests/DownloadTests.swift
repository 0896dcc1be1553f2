import Domain
import HTTPServer
import Support
import Testing

@testable import Console

@Suite("Files that the console hands over")
struct DownloadTests {
  @Test("a name from outside is a name of a file on every system, and ends no header")
  func names() {
    #expect(Download.disposition("audiences.csv") == #"attachment; filename="audiences.csv""#)
    #expect(
      Download.disposition("Frühling.csv")
        == #"attachment; filename="Fr-hling.csv"; filename*=UTF-8''Fr%C3%BChling.csv"#)
    #expect(Download.disposition("..") == #"attachment; filename="download""#)
    #expect(Download.disposition("") == #"attachment; filename="download""#)
    var random = Seeded(seed: 7)
    let pieces = ["\"", "\r\n", ";", "/", "\\", "\u{0}", "\u{202e}", "a", ".", "é", "🎉", " ", "%", "'", "*", "=", ":"]
    for _ in 0..<500 {
      let name = (0..<40).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
      let text = Download.disposition(name)
      #expect(text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f }, "\(text)")
      #expect(text.count { $0 == "\"" } == 2 && !text.contains("/") && !text.contains("\\"), "\(text)")
      #expect(text.hasPrefix("attachment; filename=\"") && !text.hasPrefix("attachment; filename=\"."), "\(text)")
    }
  }

  @Test("a file is shown as no page of this host")
  func headers() {
    let headers = Download.file([1], type: "text/csv", filename: "a.csv").headers
    for name in ["content-disposition", "x-content-type-options", "content-security-policy", "cache-control"] {
      #expect(headers.count { $0.name == name } == 1, "\(name)")
    }
  }
}
