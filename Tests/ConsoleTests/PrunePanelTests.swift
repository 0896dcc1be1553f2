import Domain
import Testing

@testable import Console

@Suite("What a prune brake holds, and how it is undone")
struct PrunePanelTests {
  private func review(_ text: String, held: Int64 = 1_234, seen: Int64 = 2_000, normal: JSONValue = .double(0.013))
    -> JSONValue
  {
    .object([
      JSONMember("credential", .string(text)), JSONMember("held", .integer(held)),
      JSONMember(
        "brake",
        .object([
          JSONMember("seen", .integer(seen)), JSONMember("dead", .integer(1_500)), JSONMember("normal_share", normal),
          JSONMember("normal_share_limit", .double(0.2)),
        ])),
      JSONMember(
        "reasons",
        .array([.object([JSONMember("reason", .string(text)), JSONMember("count", .integer(.max))]), .null])),
      JSONMember(
        "samples",
        .array([.object([JSONMember("device", .string(text)), JSONMember("reason", .string(text))])])),
    ])
  }

  private func written(_ value: JSONValue, _ texts: Texts = .english) -> String {
    var html = HTML()
    HeldPrunes(value).write(to: &html, texts, id: "prunes-0")
    return String(decoding: html.bytes, as: UTF8.self)
  }

  @Test("reasons with counts, samples that lead to their devices, the share seen and what is normal")
  func shown() {
    let page = written(review("ios:production"))
    #expect(page.contains("1,500 of 2,000") && page.contains("(75.0 %)"), "\(page)")
    #expect(page.contains("Normal is 1.3 %; up to 20.0 %"), "\(page)")
    #expect(page.contains(#"href="/console/devices/ios%3Aproduction""#), "\(page)")
    #expect(HeldPrunes(review("a", seen: 0)).seen == nil && HeldPrunes(.null).held == 0)
  }

  @Test("texts from outside stay texts, and shares and counts beyond all bounds do not trap")
  func hostile() {
    for texts in Texts.all {
      let page = written(review("</td><script>alert(1)</script>\"'&", held: .max, seen: .max), texts)
      #expect(!page.contains("<script") && page.contains("&lt;script&gt;"), "\(page)")
    }
    for share in [JSONValue.double(.infinity), .double(.nan), .double(-1), .double(7), .integer(.max), .null] {
      #expect((0...1).contains(HeldPrunes.share(share)))
      _ = written(review("a", held: .min, seen: 1, normal: share))
    }
  }

  @Test("the address offers an undo only with the times of what was removed, so that older prunes stay")
  func undo() {
    let (from, to) = ("2026-01-02T03:04:05.678Z", "2026-01-02T04:00:00.000Z")
    func read(_ query: [(name: String, value: String)]) -> RemovedPrunes? {
      RemovedPrunes { name in query.first { $0.name == name }?.value ?? "" }
    }
    let removed = RemovedPrunes(credential: "shop/ios:production", count: 5, from: from, to: to)
    #expect(read(removed.query) == removed)
    #expect(removed.undo.map(\.value) == ["shop/ios:production", from, to])
    for wrong in [("", to), (from, ""), (to, from), ("<script>", to)] {
      #expect(read(RemovedPrunes(credential: "a", count: 5, from: wrong.0, to: wrong.1).query) == nil)
    }
    #expect(read([]) == nil)
    #expect(
      read(RemovedPrunes(credential: String(repeating: "a", count: 301), count: 5, from: from, to: to).query) == nil)
  }
}
