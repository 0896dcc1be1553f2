import Domain
import Support
import Testing

@testable import Console

@Suite("Forms with files")
struct MultipartTests {
  private static let type = "multipart/form-data; boundary=----WebKitFormBoundaryAbC123"
  private static let mark = "------WebKitFormBoundaryAbC123"

  private func part(_ head: String, _ content: [UInt8]) -> [UInt8] {
    Array("\(Self.mark)\r\n\(head)\r\n\r\n".utf8) + content + [13, 10]
  }
  private func field(_ name: String, _ value: String) -> [UInt8] {
    part("Content-Disposition: form-data; name=\"\(name)\"", Array(value.utf8))
  }
  private func file(_ name: String, _ content: [UInt8]) -> [UInt8] {
    part(
      "Content-Disposition: form-data; name=\"file\"; filename=\"\(name)\"\r\nContent-Type: text/csv", content)
  }
  private var end: [UInt8] { Array("\(Self.mark)--\r\n".utf8) }

  @Test("fields and files come out as they went in, whatever bytes a file has")
  func whole() throws {
    var random = Seeded(seed: 3)
    let pieces: [[UInt8]] = [
      [13, 10], [13], [10], Array("--".utf8), Array("------WebKitFormBoundary".utf8), Array("AbC12".utf8), [0], [255],
      Array("\r\n------WebKitFormBoundaryAbC12".utf8), Array("a,b;c".utf8), [],
    ]
    for _ in 0..<300 {
      let content = (0..<Int.random(in: 0...30, using: &random)).flatMap { _ in
        pieces.randomElement(using: &random) ?? []
      }
      let body = field("form", "s=1&é\r\nx") + file("kunden.csv", content) + field("empty", "") + end
      let read = try #require(Multipart(body, Self.type))
      #expect(read.fields.map { "\($0.name)=\($0.value)" } == ["form=s=1&é\r\nx", "empty="])
      #expect(read.files.count == 1 && Array(read.files[0].bytes) == content && read.files[0].name == "kunden.csv")
    }
  }

  @Test("a body that is cut off anywhere, or goes on behind its end, is no form")
  func cut() {
    let body = field("form", "secret") + file("a.csv", Array("x,y\r\n1,2\r\n".utf8)) + end
    for length in 0..<(body.count - 2) { #expect(Multipart(Array(body[..<length]), Self.type) == nil, "\(length)") }
    #expect(Multipart(Array(body.dropLast(2)), Self.type) != nil)
    #expect(Multipart(body + [0], Self.type) == nil && Multipart(body + body, Self.type) == nil)
    #expect(Multipart([13, 10] + body, Self.type) == nil)
  }

  @Test("random damage never traps, and no file is longer than the body")
  func damage() {
    var random = Seeded(seed: 11)
    let body = field("form", "secret") + file("a.csv", Array("x,y\r\n1,2\r\n".utf8)) + end
    for _ in 0..<3_000 {
      var broken = body
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<broken.count, using: &random)
        if Bool.random(using: &random) {
          broken[place] = UInt8.random(in: 0...255, using: &random)
        } else {
          broken.remove(at: place)
        }
      }
      let read = Multipart(broken, Self.type)
      #expect((read?.files.reduce(0) { $0 + $1.bytes.count } ?? 0) <= broken.count)
    }
  }

  @Test("a name of a file leads into no folder, and its quotes and line ends come escaped")
  func names() throws {
    for (sent, read) in [
      ("../../etc/passwd", "passwd"), ("C:\\Users\\a\\b.csv", "b.csv"), ("a%22b.csv", "a\"b.csv"), ("", ""),
      ("a%0D%0Ab.csv", "ab.csv"), ("Müller; x=y.csv", "Müller; x=y.csv"),
    ] {
      let form = try #require(Multipart(file(sent, [1]) + end, Self.type), "\(sent)")
      #expect(form.files.first?.name == read, "\(sent)")
    }
  }

  @Test("heads that no browser sends are refused, and so is all beyond a bound")
  func heads() {
    let disposition = "Content-Disposition: form-data; name=\"a\""
    for head in [
      "", "Content-Type: text/csv", "Content-Disposition: form-data", "Content-Disposition: attachment; name=\"a\"",
      "Content-Disposition: form-data; name=a", "Content-Disposition: form-data; name=\"a", disposition + "; x",
      disposition + "; name=\"b\"", disposition + "\r\n" + disposition, disposition + "\r\nno colon",
      "Content-Disposition: form-data; name=\"\"", "Content-Disposition: form-data; name=\"a\u{0}\"",
      disposition + "\r\nx: " + String(repeating: "y", count: 5_000),
      disposition + String(repeating: "\r\nx: y", count: 9),
      "Content-Disposition: form-data; name=\"" + String(repeating: "n", count: 1_100) + "\"",
    ] {
      #expect(Multipart(part(head, [1]) + end, Self.type) == nil, "\(head.prefix(80))")
    }
    #expect(Multipart(part(disposition, [UInt8(ascii: "a"), 0xFF]) + end, Self.type) == nil)
    #expect(Multipart(field("a", String(repeating: "x", count: 65_537)) + end, Self.type) == nil)
    #expect(Multipart((0..<800).flatMap { field("f\($0)", "") } + end, Self.type) == nil)
    let body = field("a", "1") + end
    for type in [
      "", "multipart/form-data", "multipart/mixed; boundary=x", "multipart/form-data; boundary=",
      "multipart/form-data; boundary=\"", "multipart/form-data; boundary=a b",
      "multipart/form-data; boundary=" + String(repeating: "x", count: 71), "application/x-www-form-urlencoded",
    ] {
      #expect(Multipart(body, type) == nil, "\(type)")
    }
    #expect(Multipart(body, "Multipart/Form-Data; boundary=\"----WebKitFormBoundaryAbC123\"") != nil)
  }
}
