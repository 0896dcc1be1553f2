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
      CredentialRoute(credential: production, provider: .apns, environment: .production),
      CredentialRoute(credential: sandbox, provider: .apns, environment: .sandbox),
      CredentialRoute(credential: CredentialID(rawValue: "shop/second"), provider: .apns, environment: .production),
    ]
    #expect(app.credential(for: Address(provider: .apns, token: "aa")) == production)
    #expect(app.credential(for: Address(provider: .apns, token: "aa", environment: .sandbox)) == sandbox)
    #expect(app.credential(for: Address(provider: .fcm, token: "aa")) == nil)
  }

  @Test("what a credential does not serve goes to the next one that does")
  func coverage() {
    var app = App(id: AppID(rawValue: "shop"))
    func add(_ name: String, _ coverage: Coverage) {
      app.credentials.append(
        CredentialRoute(
          credential: CredentialID(rawValue: name), provider: .apns, environment: .production, coverage: coverage))
    }
    func route(_ kind: TokenKind = .device, _ bundleID: String? = nil) -> String? {
      app.credential(for: Address(provider: .apns, token: "aa", tokenKind: kind, bundleID: bundleID))?.rawValue
    }
    add("certificate", Coverage(bundleIDs: ["a": [.device, .voip]], ownBundleID: "a"))
    #expect(route() == "certificate")
    #expect(route(.location) == nil)
    #expect(route(.device, "b") == nil)
    add("voip", Coverage(tokenKinds: [.voip], ownBundleID: "a"))
    add("key", Coverage(ownBundleID: "a"))
    #expect(route(.voip) == "certificate")
    #expect(route(.voip, "b") == "voip")
    #expect(route(.device, "b") == "key")
    #expect(route(.location) == "key")
    #expect(app.idleRoutes.isEmpty)
    // Behind one that serves everything nothing is left.
    add("late", Coverage(bundleIDs: ["c": [.device]], ownBundleID: "c"))
    #expect(app.idleRoutes.map(\.route.credential.rawValue) == ["late"])
    #expect(app.idleRoutes.map(\.behind.credential.rawValue) == ["key"])
  }

  @Test("one coverage includes another only with all of its bundle ids, kinds, and what a missing bundle id means")
  func inclusion() {
    let wide = Coverage(bundleIDs: ["a": [.device, .voip], "b": [.device]], ownBundleID: "a")
    #expect(wide.includes(Coverage(bundleIDs: ["a": [.voip]], ownBundleID: "a")))
    #expect(!wide.includes(Coverage(bundleIDs: ["a": [.voip, .location]], ownBundleID: "a")))
    #expect(!wide.includes(Coverage(bundleIDs: ["c": [.device]], ownBundleID: "c")))
    #expect(!wide.includes(.everything))
    // Both serve `b`, but for an address without a bundle id the one means `b` and the other `a`, where it lacks the
    // kind.
    let other = Coverage(bundleIDs: ["a": [.voip], "b": [.device]], ownBundleID: "a")
    #expect(!other.includes(Coverage(bundleIDs: ["b": [.device]], ownBundleID: "b")))
    #expect(Coverage(tokenKinds: [.device]).includes(Coverage(bundleIDs: ["x": [.device]], ownBundleID: "x")))
    #expect(!Coverage(tokenKinds: [.device]).includes(.everything))
    #expect(Coverage.everything.includes(.everything))
  }

  @Test("waits are rounded up and never negative")
  func instants() {
    let start = Instant(nanoseconds: 5_000_000)
    #expect(Instant(nanoseconds: 6_000_001) - start == 2)
    #expect(start - Instant(nanoseconds: 6_000_001) == 0)
    #expect(start + -1 == start && start + .min == start)
    #expect((start + .max).nanoseconds == .max && start + .max - start > 0)
  }
}
