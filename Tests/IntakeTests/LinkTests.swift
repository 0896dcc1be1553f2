import Domain
import Intake
import Testing

@Suite("What a tap opens is a URL, and does no harm")
struct LinkTests {
  @Test(
    "any scheme is taken as it is",
    arguments: [
      "https://example.com/o/1", "HTTP://example.com", "myapp://order/881", "my.app+v2-x:order?id=881",
      "mailto:a@b.example",
      "tel:+4930123", "intent://scan/#Intent;scheme=zxing;end", "https://exämple.example/ü",
    ])
  func taken(_ link: String) throws {
    let text =
      #""notification":{"title":"T","link":"\#(link)","buttons":[{"id":"a","text":"A","url":"\#(link)"}]}"#
    let notification = try #require(try read(alert(text)).message.notification)
    #expect(notification.link == link)
    #expect(notification.buttons.first?.url == link)
  }

  @Test(
    "code, files and what is no URL are refused",
    arguments: [
      ("javascript:alert(1)", "not_allowed"), ("JavaScript:alert(1)", "not_allowed"), ("vbscript:x", "not_allowed"),
      ("data:text/html,x", "not_allowed"), ("file:///etc/passwd", "not_allowed"), ("content://c/1", "not_allowed"),
      ("blob:https://a.example/1", "not_allowed"), ("view-source:https://a.example", "not_allowed"),
      ("order/881", "invalid_format"), (":x", "invalid_format"), ("1app:x", "invalid_format"),
      ("my app:x", "invalid_format"), (" javascript:x", "invalid_format"), ("myapp:", "invalid_format"),
      ("myapp://a b", "invalid_format"), (#"myapp://a\"b"#, "invalid_format"), ("https://", "invalid_format"),
      ("https:/x", "invalid_format"), ("http:x", "invalid_format"), ("https://?q", "invalid_format"),
      (#"java\tscript:x"#, "invalid_format"), ("myapp://<b>", "invalid_format"),
      (String(repeating: "a", count: 65) + ":x", "invalid_format"),
      ("myapp://" + String(repeating: "a", count: 2_048), "too_long"), ("myapp://{{user}}", "not_allowed"),
    ])
  func refused(_ link: String, _ code: String) throws {
    let text = #""notification":{"title":"T","link":"\#(link)","buttons":[{"id":"a","text":"A","url":"\#(link)"}]}"#
    do {
      _ = try read(alert(text))
      Issue.record("taken: \(link)")
    } catch let refusal as Refusal {
      let found = refusal.violations.map { "\($0.pointer) \($0.code)" }
      #expect(found.contains { $0.hasPrefix("/notification/link ") }, "\(found)")
      #expect(found.contains { $0.hasPrefix("/notification/buttons/0/url ") }, "\(found)")
      #expect(refusal.violations.allSatisfy { $0.code == code }, "\(found)")
    }
  }
}
