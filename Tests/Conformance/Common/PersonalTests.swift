import Domain
import JSON
import Testing

@testable import Delivery

@Suite("Personal texts stand in every provider's requests as they would if they had been written there")
struct PersonalTests {
  /// The noncharacters that renderings are split at.
  private static func mark(_ number: UInt32) -> String {
    Unicode.Scalar(0xFDD0 + number).map { String(Character($0)) } ?? ""
  }
  /// Texts that could break out of a string, end a template, or be taken for one.
  private static let hostile = [
    "Ann", "\"", "\\", "\\\"", "\"},\"x\":{\"", "\n\r\t\u{1}\u{1f}", "🙂\u{1F1E9}\u{1F1EA}é", "\u{2028}\u{2029}",
    "{{name}}",
    "{{", "}}", mark(0), mark(1) + mark(31), "\\u0022", "%s", String(repeating: "ü", count: 200),
  ]

  private func personal(_ change: (inout Message, inout Notification) -> Void = { _, _ in }) -> Message {
    .alert { message, notification in
      notification.title = "Hello {{name|you}}, {{name}}"
      notification.body = "{{count}} new, \\{{braces}}"
      notification.bodyKey = "BODY"
      notification.bodyArgs = ["{{count}}", "{{name}}"]
      notification.localized = [LocalizedText(language: "de", title: "Hallo {{name}} {{city|dort}}")]
      change(&message, &notification)
    }
  }

  private func facts(_ name: String?, _ city: String? = nil, language: String? = nil) -> DeviceFacts {
    var attributes = [JSONMember("count", .integer(7))]
    attributes.set("name", name)
    attributes.set("city", city)
    return DeviceFacts(language: language, attributes: attributes)
  }

  private func expectSame(_ message: Message, _ subject: ProviderUnderTest) throws {
    let account = try subject.account()
    var renderings = Renderings(message, startedAt: started)
    let texts = MessageTexts(message)
    for language in [nil, "de-AT", "fr"] {
      for text in Self.hostile {
        let facts = facts(text, text + text, language: language)
        let whole = try #require(texts.message(for: facts, providerChooses: account.choosesLanguage))
        let expected = try account.render(whole, startedAt: started)
        let split = try renderings.rendering(account, for: facts).get()
        #expect(split.head == expected.head && split.tail == expected.tail && split.path == expected.path)
        #expect(split.headers == expected.headers)
        let sent = account.request(split, to: [subject.address], id: someID, authorization: "x")
        _ = try JSON.parse(sent.content)
      }
    }
    #expect(renderings.rendering(account, for: facts(nil)) == .failure(.attributeMissing))
    #expect(renderings.rendering(account, for: nil) == .failure(.attributeMissing))
  }

  @Test("whatever an attribute holds", arguments: registeredProviders)
  func escaping(_ subject: ProviderUnderTest) throws { try expectSame(personal(), subject) }

  @Test("and whatever the message itself holds", arguments: registeredProviders)
  func marksInTheMessage(_ subject: ProviderUnderTest) throws {
    let message = personal { message, notification in
      notification.subtitle = "\(Self.mark(0)){{name}}\(Self.mark(31))"
      message.data = [JSONMember(Self.mark(1), .string(Self.mark(0) + Self.mark(2)))]
    }
    try expectSame(message, subject)
  }

  @Test("a body grows up to the limit by its own text and no byte further", arguments: registeredProviders)
  func limit(_ subject: ProviderUnderTest) throws {
    guard let limit = subject.bodyLimit else { return }
    let account = try subject.account()
    // The rest of a message near the limit leaves the marks no room: devices are rendered whole.
    for filler in [100, limit - 600, limit - 300] {
      let message = Message.alert { message, notification in
        notification.title = "{{name}}"
        notification.body = nil
        message.data = [JSONMember("k", .string(String(repeating: "x", count: filler)))]
      }
      var renderings = Renderings(message, startedAt: started)
      func size(_ count: Int) -> Int? {
        guard let all = try? renderings.rendering(account, for: facts(String(repeating: "\"", count: count))).get()
        else { return nil }
        return all.head.count + all.tail.count
      }
      guard let least = size(1) else { continue }
      let sizes = (1...2_100).prefix { size($0) != nil }
      let most = try #require(sizes.last)
      #expect(try #require(size(most)) <= limit && limit - (size(most) ?? 0) < 8, "from \(least)")
      #expect(
        renderings.rendering(account, for: facts(String(repeating: "\"", count: most + 1)))
          == .failure(.refused(code: "payload_too_large")))
      #expect(size(1) == least)
    }
  }
}

extension Result where Success == Rendering, Failure == Unrenderable {
  fileprivate static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.failure(let one), .failure(let other)): one == other
    default: false
    }
  }
}
