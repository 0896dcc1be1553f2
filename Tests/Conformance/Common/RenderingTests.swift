import Domain
import JSON
import Testing

@Suite("Every provider renders safely")
struct RenderingTests {
  private func request(_ subject: ProviderUnderTest, _ message: Message, id: UUIDBytes = someID) throws
    -> ProviderRequest
  {
    let account = try subject.account()
    let rendering = try account.render(message, startedAt: started)
    return account.request(rendering, to: [subject.address], id: id, authorization: "bearer x")
  }

  private func expectSafe(_ request: ProviderRequest) throws {
    for header in request.headers {
      #expect(Header.isSafeName(header.name) && Header.isSafeValue(header.value), "\(header)")
    }
    let names = request.headers.map(\.name)
    #expect(Set(names).count == names.count, "a header twice")
    #expect(request.path.utf8.allSatisfy { (0x21...0x7e).contains($0) })
    #expect(try JSON.parse(request.content).object != nil)
  }

  @Test("the same message, id and time make the same request, on every attempt", arguments: registeredProviders)
  func deterministic(_ subject: ProviderUnderTest) throws {
    let message = Message.alert { message, notification in
      message.data = [JSONMember("b", .string("2")), JSONMember("a", .integer(1))]
      notification.badge = 3
    }
    let first = try request(subject, message)
    #expect(try first == request(subject, message))
    try expectSafe(first)
    #expect(first.method == "POST")
    #expect(first.headers.contains { $0.name == "authorization" && $0.value == "bearer x" && !$0.indexed })
  }

  @Test("no kind of message reaches a token of another", arguments: registeredProviders)
  func tokenKinds(_ subject: ProviderUnderTest) {
    var address = subject.address
    for pushType in PushType.all {
      for kind in TokenKind.allCases {
        address.tokenKind = kind
        address.liveActivityToken = "80a1"
        #expect(
          !subject.provider.carries(pushType, to: address) || pushType.tokenKinds.contains(kind), "\(pushType) \(kind)")
      }
    }
    #expect(subject.provider.carries(PushType(.alert), to: subject.address))
    #expect(subject.provider.carries(PushType(.background), to: subject.address))
  }

  @Test(
    "a body grows up to its limit and not a byte further; a refusal names the excess", arguments: registeredProviders)
  func limits(_ subject: ProviderUnderTest) throws {
    let account = try subject.account()
    func sized(_ count: Int) -> Message {
      Message.alert { message, _ in
        message.data = [JSONMember("k", .string(String(repeating: "x", count: count)))]
      }
    }
    func fault(_ count: Int) -> RenderFault? {
      do {
        _ = try account.render(sized(count), startedAt: started)
        return nil
      } catch { return error }
    }
    let most = (0..<5_000).last { fault($0) == nil } ?? 0
    #expect(most > 1_000)
    let rendering = try account.render(sized(most), startedAt: started)
    if let limit = subject.bodyLimit { #expect(rendering.head.count + rendering.tail.count == limit) }
    let refusal = try #require(fault(most + 9))
    #expect(refusal.code == "payload_too_large")
    #expect(refusal.detail.contains("9 over the limit"))
    #expect(refusal.detail.contains(subject.provider.name.rawValue))
  }

  @Test("hostile texts stay inside their strings, or are refused", arguments: registeredProviders)
  func hostileTexts(_ subject: ProviderUnderTest) throws {
    let texts = [
      "a\r\nauthorization: bearer b", "\"},\"x\":{\"", "\\", "\u{0}", "\u{2028}", "🙂\u{1F1E9}\u{1F1EA}", "\u{7f}",
      "<script>", String(repeating: "é", count: 32),
    ]
    for text in texts {
      let message = Message.alert { message, notification in
        notification.title = text
        notification.body = text
        notification.category = text
        notification.threadID = text
        notification.androidChannel = text
        notification.sound = Sound(name: text)
        notification.link = text
        notification.buttons = [Button(id: text, text: text)]
        notification.localized = [LocalizedText(language: text, title: text)]
        message.data = [JSONMember(text, .string(text))]
      }
      let sent = try request(subject, message)
      try expectSafe(sent)
      #expect(holds(text, in: try JSON.parse(sent.content)))
      var collapsing = message
      collapsing.collapseKey = text
      do { try expectSafe(try request(subject, collapsing)) } catch let fault as RenderFault {
        #expect(["header_invalid", "collapse_key_too_long"].contains(fault.code))
      }
    }
  }

  private func holds(_ text: String, in value: JSONValue) -> Bool {
    switch value {
    case .string(let other): other == text
    case .array(let items): items.contains { holds(text, in: $0) }
    case .object(let members): members.contains { holds(text, in: $0.value) }
    default: false
    }
  }

  @Test(
    "an override that injects a header or widens the send is refused with its place", arguments: registeredProviders)
  func hostileOverrides(_ subject: ProviderUnderTest) throws {
    let account = try subject.account()
    for overrides in subject.hostileOverrides {
      let message = Message.alert { message, _ in message.overrides = overrides }
      let fault = #expect(throws: RenderFault.self) { try account.render(message, startedAt: started) }
      #expect(fault?.pointer.hasPrefix("/overrides/") == true)
    }
  }

  @Test("the texts of a device's language are carried", arguments: registeredProviders)
  func localized(_ subject: ProviderUnderTest) throws {
    let message = Message.alert { _, notification in
      notification.localized = [LocalizedText(language: "de", body: "Kommt Dienstag")]
    }
    let account = try subject.account()
    let texts = MessageTexts(message)
    for choice in texts.choices(providerChooses: account.choosesLanguage) where choice != .own {
      let rendering = try account.render(texts.sample(choice), startedAt: started)
      let sent = account.request(rendering, to: [subject.address], id: someID, authorization: "x")
      #expect(holds("Kommt Dienstag", in: try JSON.parse(sent.content)))
    }
  }
}
