import Domain
import Testing

@Suite("Routes of an app")
struct AppTests {
  @Test("an address goes to the first credential of its provider and environment, else to none")
  func routes() {
    var app = App(id: AppID(rawValue: "shop"))
    let production = CredentialID(rawValue: "shop/ios:production")
    let sandbox = CredentialID(rawValue: "shop/ios:sandbox")
    app.credentials = [
      Route(credential: production, provider: .apns, environment: .production),
      Route(credential: sandbox, provider: .apns, environment: .sandbox),
      Route(credential: CredentialID(rawValue: "shop/second"), provider: .apns, environment: .production),
    ]
    #expect(app.credential(for: Address(provider: .apns, token: "aa")) == production)
    #expect(app.credential(for: Address(provider: .apns, token: "aa", environment: .sandbox)) == sandbox)
    #expect(app.credential(for: Address(provider: .fcm, token: "aa")) == nil)
  }

  @Test("waits are rounded up and never negative")
  func instants() {
    let start = Instant(nanoseconds: 5_000_000)
    #expect(Instant(nanoseconds: 6_000_001) - start == 2)
    #expect(start - Instant(nanoseconds: 6_000_001) == 0)
  }
}
