import Domain
import Glibc
import TLS

@testable import WebPush

extension FuzzTarget {
  /// A token: the first two bytes choose provider and kind. What is taken reads as itself, and makes requests that are safe to send.
  static let tokens = FuzzTarget("tokens") { bytes in
    var input = FuzzInput(bytes)
    let place = Int(input.byte()) % FuzzWorld.providers.count
    let (provider, account) = (FuzzWorld.providers[place], FuzzWorld.accounts[place])
    let kind = input.pick(TokenKind.allCases)
    let text = input.text()
    guard hasForm(text, provider.tokens.form), let token = try? provider.tokens.read(text, kind) else { return }
    demand(hasForm(token.text, provider.tokens.form), "a token is kept in its form")
    demand((try? provider.tokens.read(token.text, kind)) == token, "a token that is kept reads as itself")
    _ = provider.tokens.reachesSeveral(token.text, kind)
    let address = Address(provider: provider.name, token: token.text, tokenKind: kind, bundleID: token.bundleID)
    _ = account.recipientClass(of: address)
    guard provider.tokens.kinds.contains(kind), provider.carries(PushType(.alert), to: address),
      let rendering = try? account.render(message, startedAt: FuzzWorld.now)
    else { return }
    check(account.request(rendering, to: [address], id: UUIDBytes(high: 1, low: 2), authorization: "bearer x"))
    _ = account.frame(rendering, like: address, authorization: "bearer x")
    _ = account.body(rendering, token: Array(token.text.utf8))
  }

  private static let message: Message = {
    var message = Message(to: .everyone, kind: .alert)
    var notification = Notification()
    notification.title = "Order shipped"
    message.notification = notification
    return message
  }()

  /// As Intake checks it before the provider's rules are asked.
  private static func hasForm(_ text: String, _ form: TokenRules.Form) -> Bool {
    guard (1...TokenRules.longest).contains(text.utf8.count) else { return false }
    if case .document = form { return true }
    return text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "/") }
  }

  /// The URL to which a browser's push service wants its messages: it never leads to an address, however that is written.
  static let endpoints = FuzzTarget("endpoints") { bytes in
    let url = String(decoding: bytes, as: UTF8.self)
    let text = "\(url)#\(Base64URL.encode(point)).\(Base64URL.encode([UInt8](repeating: 1, count: 16)))"
    _ = PushService(url)
    guard let subscription = try? Subscription(reading: text) else { return }
    let origin = subscription.endpoint.service.origin
    var address = in_addr()
    demand(inet_aton(origin.host, &address) == 0, "no resolver takes it for an address: \(origin.host)")
    demand(NetworkAddress(origin.host) == nil, "the host is no address: \(origin.host)")
    demand((1...65_535).contains(origin.port), "the port is one")
    demand(
      !origin.authority.utf8.contains { $0 <= 0x20 || "@/\\?#%".utf8.contains($0) }, "the authority holds nothing else")
    demand((try? Subscription(reading: subscription.kept))?.kept == subscription.kept, "it is kept as it reads")
  }

  private static let point = P256.publicPoint(of: Array(1...32)) ?? []
}
