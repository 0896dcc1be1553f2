import API
import CommandFrame
import Domain
import Gateway

/// A request of each account for each kind of token that the message may reach there.
enum SampleRequests {
  /// An account, and which addresses come to it.
  typealias Source = (route: CredentialRoute, account: any ProviderAccount)

  /// In the order of the accounts; a fault that several share is told once.
  static func make(
    _ message: Message, _ sources: [Source], facts: DeviceFacts = DeviceFacts(), startedAt: WallTime
  ) -> (samples: [RequestSample], faults: [RenderFault]) {
    var facts = facts
    // An attribute without a value is shown by its name.
    let contents = message.contents
    for slot in contents.flatMap({ MessageTexts($0.message).slots }) where facts.text(for: slot) == nil {
      facts.attributes.set(slot.name, slot.name)
    }
    var samples: [RequestSample] = []
    var faults: [RenderFault] = []
    for (route, account) in sources where message.providers.map({ $0.contains(route.provider) }) ?? true {
      for address in addresses(of: message, by: route, account) {
        for (variant, content) in contents {
          do throws(RenderFault) {
            let sample = try RequestSample(
              content, variant: variant, to: address, device: nil, facts: facts, by: account, startedAt: startedAt)
            if let sample { samples.append(sample) }
          } catch {
            for fault in error.all where !faults.contains(fault) { faults.append(fault) }
          }
        }
      }
    }
    return (samples, faults)
  }

  /// The first token of each kind that the message names for this provider, else made-up ones.
  private static func addresses(
    of message: Message, by route: CredentialRoute, _ account: any ProviderAccount
  ) -> [Address] {
    var named: [Address] = []
    switch message.to {
    case .tokens(let tokens): named = tokens
    case .channel(let channel): named = [channel]
    case .devices, .users, .audience, .everyone: break
    }
    let pushType = message.pushType
    guard let provider = Providers.byName[route.provider] else { return [] }
    func comesHere(_ address: Address) -> Bool {
      address.provider == route.provider && address.environment == route.environment
        && route.coverage.serves(address) && provider.carries(pushType, to: address)
    }
    return pushType.tokenKinds.compactMap { kind -> Address? in
      if let address = named.first(where: { $0.tokenKind == kind && comesHere($0) }) { return address }
      guard named.isEmpty, kind.isOfDevice else { return nil }
      let token = account.sampleToken(kind, for: message)
      // What a Live Activity goes to beside the device's own token.
      let activity = message.kind == .liveActivity ? ProviderSample.hex : nil
      var address = Address(
        provider: route.provider, token: token, tokenKind: kind,
        bundleID: (try? provider.tokens.read(token, kind))?.bundleID, liveActivityToken: activity)
      address.environment = route.environment
      return comesHere(address) ? address : nil
    }
  }
}

extension RequestSample {
  /// As people read requests.
  var text: String {
    let name = variant.map { ", variant \($0)" } ?? ""
    var lines = [
      "\(provider.rawValue), \(tokenKind.rawValue) token, \(credential.rawValue)\(name)", "\(request.method) \(url)",
    ]
    for header in request.headers { lines.append("\(header.name): \(header.value)") }
    lines += ["", String(decoding: request.readable ?? request.body, as: UTF8.self), ""]
    let used = bytesLeft.flatMap { left in limit.map { "\(grouped($0 - left)) of \(grouped($0)) bytes of the limit" } }
    lines.append(used ?? "\(grouped(request.body.count)) bytes")
    for warning in warnings { lines.append("note: \(warning.pointer): \(warning.note)") }
    return lines.joined(separator: "\n")
  }
}
