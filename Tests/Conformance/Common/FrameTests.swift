import Domain
import Testing

@Suite("A frame stands for the very requests that are made one by one")
struct FrameTests {
  private static let messages = [
    Message.alert(),
    Message.alert { message, _ in
      message.collapseKey = "k"
      message.ttl = 0
    },
    Message.background(), Message.activity(.start), Message.activity(.update),
  ]

  private func addresses(_ subject: ProviderUnderTest) -> [Address] {
    var addresses: [Address] = []
    for token in [subject.address.token, "a", String(repeating: "Z-_:9", count: 60)] {
      for kind in TokenKind.allCases {
        for bundle in [nil, "com.example.other", "com.example.app.voip"] {
          var address = Address(provider: subject.address.provider, token: token, tokenKind: kind)
          address.bundleID = bundle
          address.liveActivityToken = "activity"
          addresses.append(address)
        }
      }
    }
    return addresses
  }

  @Test("header by header and byte by byte", arguments: registeredProviders)
  func same(_ subject: ProviderUnderTest) throws {
    let account = try subject.account()
    var framed = 0
    for message in Self.messages {
      guard let rendering = try? account.render(message, startedAt: started) else { continue }
      for address in addresses(subject) {
        var other = address
        other.token = "another-token"
        guard let frame = account.frame(rendering, like: other, authorization: "bearer x") else { continue }
        framed += 1
        let token = Array(address.token.utf8)
        #expect(PushFrame.takes(token: token))
        let whole = account.request(rendering, to: [address], id: someID, authorization: "bearer x")
        var headers = frame.headers
        if let name = frame.idHeader { headers.append(Header(name, someID.description, indexed: false)) }
        #expect(whole.method == "POST")
        #expect(whole.path == frame.path + (frame.tokenPlace == .path ? address.token : ""))
        #expect(Set(whole.headers) == Set(headers) && whole.headers.count == headers.count)
        #expect(account.body(rendering, token: token) == whole.body)
      }
    }
    #expect(framed > 0 || account.recipientLimit > 1 || !subject.hasFrames)
  }

  @Test("what is called an acceptance is judged to be one", arguments: registeredProviders)
  func acceptance(_ subject: ProviderUnderTest) throws {
    let account = try subject.account()
    let answers = subject.answers
    for answer in [
      answers.accepted, answers.dead, answers.throttled, answers.rejected, answers.blocked, answers.serverFault,
      answers.wording(200, "NeverSeen"), ProviderAnswer(200, ""), ProviderAnswer(200, "<html>"),
    ] {
      guard let receipt = account.acceptance(status: answer.status, body: answer.body) else { continue }
      let judgement = account.judge(answer, recipients: [subject.address])
      guard case .accepted(let id) = judgement.common, judgement.exceptions.isEmpty else {
        Issue.record("\(answer) is no acceptance: \(judgement)")
        continue
      }
      if case .named(let name) = receipt { #expect(id == name) }
    }
    if account.recipientLimit == 1 {
      #expect(account.acceptance(status: answers.accepted.status, body: answers.accepted.body) != nil)
    }
  }

  @Test("tokens that would have to be escaped are not put into a frame")
  func escaped() {
    for text in ["", "a\"b", "a\\b", "a b", "ä", "a\n", String(repeating: "a", count: PushFrame.longestToken + 1)] {
      #expect(!PushFrame.takes(token: Array(text.utf8)))
    }
  }
}
