import Domain

@testable import APNs
@testable import FCM
@testable import OneSignal
@testable import WebPush

extension FuzzTarget {
  /// What a provider answers: a byte that chooses the provider, the status as digits, then headers, a line each, and behind an empty
  /// line the body.
  static let answers = FuzzTarget("answers") { bytes in
    var input = FuzzInput(bytes)
    let place = Int(input.byte()) % FuzzWorld.providers.count
    let status = Int(String(decoding: input.line().prefix(3), as: UTF8.self)) ?? 0
    var headers: [Header] = []
    while !input.isEmpty {
      let line = input.line()
      if line.isEmpty { break }
      let name = line.prefix { $0 != UInt8(ascii: ":") }
      let value = line[name.endIndex...].dropFirst().drop { $0 == 0x20 }
      headers.append(Header(String(decoding: name, as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self)))
    }
    let answer = ProviderAnswer(status: status, headers: headers, body: input.bytes(), receivedAt: FuzzWorld.now)
    if let seconds = answer.retryAfter {
      demand((0...ProviderAnswer.longestRetryAfter).contains(seconds), "a bounded wait")
    }
    judge(answer, FuzzWorld.accounts[place])
    _ = TokenAnswer(answer)
    if let account = FuzzWorld.accounts[place] as? APNsAccount {
      for call in [ChannelCall.create(keepsNewest: true), .read("x"), .delete("x"), .list] {
        _ = account.read(answer, to: call)
      }
    }
  }

  private static func judge(_ answer: ProviderAnswer, _ account: any ProviderAccount) {
    let tokens = ["00000000-0000-4000-8000-000000000001", "ana", String(repeating: "0a", count: 32)]
    for kinds in [[TokenKind.device], [.channel], [.activity, .voip, .subscribers]] {
      let recipients = kinds.enumerated().map {
        Address(provider: account.provider, token: tokens[$0.offset], tokenKind: $0.element)
      }
      let judgement = account.judge(answer, recipients: recipients)
      let known = Set(recipients.map(\.token))
      demand(judgement.exceptions.keys.allSatisfy(known.contains), "exceptions are recipients")
      if case .named? = account.acceptance(status: answer.status, body: answer.body), kinds == [.device] {
        if case .accepted = judgement.common { continue }
        fatalError("an acceptance is judged as one")
      }
    }
    _ = account.read(probe: answer)
  }
}
