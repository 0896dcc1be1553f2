import Domain
import Intake
import JSON
import Store

@testable import API

extension FuzzTarget {
  /// The body of a message, and what each provider makes of one that is accepted.
  static let messages = FuzzTarget("messages") { bytes in
    guard let document = document(bytes) else { return }
    _ = MessageReader.missing(in: document, providers: FuzzWorld.rules)
    _ = DraftReader.tests(of: document)
    guard let reading = try? MessageReader.read(document, providers: FuzzWorld.rules, now: FuzzWorld.now) else {
      return
    }
    // A worker reads what was stored, later and without the rules.
    do throws(Refusal) {
      let later = try MessageReader.message(from: document)
      demand(later.kind == reading.message.kind && later.ttl == reading.message.ttl, "a message reads the same later")
    } catch {
      fatalError("a message that was accepted is refused later: \(error)")
    }
    render(reading.message)
  }

  private static func render(_ message: Message) {
    for content in message.textsByVariant {
      for (provider, account) in zip(FuzzWorld.providers, FuzzWorld.accounts) {
        for choice in content.texts.choices(providerChooses: account.choosesLanguage) {
          render(content.texts.sample(choice), provider, account)
        }
      }
    }
  }

  private static func render(_ message: Message, _ provider: any PushProvider, _ account: any ProviderAccount) {
    let kinds = message.pushType.tokenKinds
    guard let kind = provider.tokens.kinds.first(where: { kinds.contains($0) }) else { return }
    var address = Address(provider: provider.name, token: account.sampleToken(kind, for: message), tokenKind: kind)
    address.liveActivityToken = "sample"
    guard provider.carries(message.pushType, to: address),
      let rendering = try? account.render(message, startedAt: FuzzWorld.now)
    else { return }
    check(account.request(rendering, to: [address], id: UUIDBytes(high: 1, low: 2), authorization: "bearer x"))
  }

  static func check(_ request: ProviderRequest) {
    guard request.fault == nil else { return }
    demand(request.path.utf8.allSatisfy { (0x21...0x7e).contains($0) }, "a path is printable ASCII: \(request.path)")
    for header in request.headers { demand(Header.isSafeValue(header.value), "the header \(header.name) is safe") }
  }

  /// The bodies of all other requests: each document is given to each reader.
  static let requests = FuzzTarget("requests") { bytes in
    guard let document = document(bytes) else { return }
    for isImported in [false, true] {
      for id in [nil, DeviceID(rawValue: "d-1")] {
        guard
          let reading = try? DeviceReader.read(
            document, id: id, now: FuzzWorld.now, providers: FuzzWorld.rules, isImported: isImported)
        else { continue }
        _ = (reading.merged(into: reading.device), reading.mergedByAttribute(into: reading.device))
      }
    }
    _ = DeviceReader.isDead(document)
    if let draft = try? DraftReader.read(document, providers: FuzzWorld.rules, now: FuzzWorld.now) {
      demand((try? DraftReader.read(document)) != nil, "a draft reads the same later")
      _ = DraftReader.tests(of: draft.message)
    }
    for schema in [Schema.audience, .namedAudience] {
      _ = try? AudienceReader.read(document, as: schema, providers: FuzzWorld.rules)
    }
    _ = try? TagReader.edit(from: document)
    _ = try? TagReader.userTags(from: document)
    let keys = KeyReader(scopes: Scope.allCases.map(\.rawValue), now: FuzzWorld.now)
    _ = try? keys.newKey(from: document)
    _ = try? keys.edit(from: document)
    _ = try? KeyReader.rotation(from: document)
    if let selection = try? ReplayReader.read(document) { _ = selection.takes(state: "failed", reason: "x") }
    _ = try? ScheduleReader.read(document, now: FuzzWorld.now)
    _ = try? ScheduleReader.readOfDraft(document, now: FuzzWorld.now)
    _ = try? TestReader.read(document)
    _ = try? TestReader.list(document, providers: FuzzWorld.rules)
    _ = try? ChannelReader.read(document)
    try? EmptyReader.read(document, query: ["credential"])
  }
}
