import API
import Domain
import Store
import Testing

@Suite("Each target has its fate when a message is accepted")
struct RouteTests {
  private func resolver(_ change: (inout Message) -> Void = { _ in }) -> RouteResolver {
    var app = App(id: AppID(rawValue: "shop"))
    app.credentials = [
      CredentialRoute(credential: FakeAccount.apns, provider: .apns, environment: .production),
      CredentialRoute(credential: FakeAccount.fcm, provider: .fcm, environment: .production),
    ]
    var message = Message(to: .everyone, kind: .alert)
    change(&message)
    return RouteResolver(
      app: app, message: message,
      providers: [
        .apns: FakeProvider(name: .apns), .fcm: FakeProvider(name: .fcm), .oneSignal: FakeProvider(name: .oneSignal),
      ],
      accounts: [FakeAccount.apns])
  }

  private func device(_ change: (inout Device) -> Void = { _ in }) -> Device {
    var device = Device(
      id: DeviceID(rawValue: "d1"), address: Address(provider: .apns, token: "ab"),
      registeredAt: WallTime(seconds: 0))
    change(&device)
    return device
  }

  private func word(_ target: SubmissionTarget) -> String {
    switch target.route {
    case .queue(let credential): credential.rawValue
    case .ended(let outcome, let reason): "\(outcome.rawValue): \(reason)"
    }
  }

  @Test("a known, enabled device is queued for its account")
  func queued() {
    let target = resolver().target(StoredDevice(device: device(), tombstone: nil))
    #expect(word(target) == FakeAccount.apns.rawValue)
    #expect(target.registered)
    #expect(word(resolver().target(Address(provider: .apns, token: "cd"))) == FakeAccount.apns.rawValue)
  }

  @Test("whatever gets nothing is told why")
  func ended() {
    let tombstone = Tombstone(reason: "Unregistered", at: WallTime(seconds: 1))
    func stored(_ change: (inout Device) -> Void) -> StoredDevice {
      StoredDevice(device: device(change), tombstone: nil)
    }
    #expect(word(resolver().target(DeviceID(rawValue: "x"), nil)) == "skipped: unknown_device")
    #expect(word(resolver().target(stored { $0.enabled = false })) == "skipped: device_disabled")
    #expect(word(resolver().target(StoredDevice(device: device(), tombstone: tombstone))) == "dead: Unregistered")
    #expect(word(resolver { $0.providers = [.fcm] }.target(stored { _ in })) == "skipped: provider_excluded")
    #expect(word(resolver().target(stored { $0.address.tokenKind = .voip })) == "skipped: token_kind")
    #expect(word(resolver { $0.kind = .voip }.target(stored { _ in })) == "skipped: kind_unsupported")
    #expect(word(resolver().target(stored { $0.address.environment = .sandbox })) == "skipped: no_credential")
    #expect(word(resolver().target(Address(provider: .oneSignal, token: "x"))) == "skipped: no_credential")
    // The route is configured, its account could not be opened.
    #expect(word(resolver().target(Address(provider: .fcm, token: "x"))) == "skipped: no_credential")
    #expect(
      word(resolver().target(Address(provider: ProviderName(rawValue: "smoke"), token: "x")))
        == "skipped: kind_unsupported")
  }
}
