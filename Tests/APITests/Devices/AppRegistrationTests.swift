import API
import Domain
import Intake
import JSON
import Testing

@Suite("A key that ships inside an app can do no harm")
struct AppRegistrationTests {
  private var app: App {
    var app = App(id: AppID(rawValue: "shop"))
    app.registration.identity = NobodysIdentity()
    app.registration.anonymousTags = 4
    app.registration.anonymousAttributes = 2
    app.registerTags = ["lang:*", "beta"]
    return app
  }
  private let now = WallTime(seconds: 1_795_262_400)

  private func reading(_ members: String) throws -> DeviceReading {
    let text = #"{"provider":"fcm","token":"t1"\#(members)}"#
    return try DeviceReader.read(JSON.parse(Array(text.utf8)), id: nil, now: now)
  }

  private func outcome(_ members: String, _ app: App, isSigned: Bool = false) throws -> [String] {
    let reading = try reading(members)
    do throws(Problem) {
      try AppRegistration(app: app, rules: [:], isSigned: isSigned).check(reading)
      return []
    } catch {
      return [error.code.rawValue] + error.violations.map(\.pointer)
    }
  }

  @Test("it registers by token, with the tags that are free")
  func allowed() throws {
    #expect(try outcome(#","tags":["lang:de","beta"],"language":"de""#, app) == [])
  }

  @Test("it chooses no id and sets no other tag")
  func refused() throws {
    #expect(
      try outcome(#","id":"d1","tags":["beta","plan:pro","beta2","lang"]"#, app)
        == ["invalid_device", "/id", "/tags/1", "/tags/2", "/tags/3"])
  }

  @Test("it names a user only with an identity token, and needs one where the app asks for it")
  func user() throws {
    #expect(try outcome(#","user":"u17""#, app, isSigned: true) == [])
    #expect(try outcome(#","user":"u17""#, app) == ["identity_required"])
    #expect(try outcome(#","user":null"#, app) == [])
    #expect(try outcome("", app) == [])
    var closed = app
    closed.registration.allowsAnonymous = false
    for members in ["", #","user":null"#, #","user":"u17""#] {
      #expect(try outcome(members, closed) == ["identity_required"])
      #expect(try outcome(members, closed, isSigned: true) == [])
    }
    var keyless = app
    keyless.registration.identity = nil
    #expect(try outcome(#","user":"u17""#, keyless) == ["invalid_identity", "/user"])
    #expect(try outcome("", keyless) == [])
  }

  @Test("without an identity token it sets few tags and attributes")
  func anonymous() throws {
    let tags = #","tags":["lang:a","lang:b","lang:c","lang:d"]"#
    let attributes = #","attributes":{"a":1,"b":"x"}"#
    #expect(try outcome(tags + attributes, app) == [])
    let more = #","tags":["lang:a","lang:b","lang:c","lang:d","beta"],"attributes":{"a":1,"b":2,"c":3}"#
    #expect(try outcome(more, app) == ["invalid_device", "/tags", "/attributes"])
    #expect(try outcome(more, app, isSigned: true) == [])
  }

  @Test("a token that stands for several devices is refused, with an identity token too")
  func severalDevices() throws {
    var rules = TokenRules(kinds: [.device]) { text, _ in TokenRules.Token(text) }
    rules.reachesSeveral = { text, kind in text == "t1" && kind == .device }
    for isSigned in [false, true] {
      let registration = AppRegistration(app: app, rules: [.fcm: rules], isSigned: isSigned)
      #expect {
        try registration.check(try reading(""))
      } throws: {
        ($0 as? Problem)?.violations.map(\.pointer) == ["/token"]
      }
      try registration.check(try reading(#","token_kind":"fid""#))
    }
  }

  @Test("what the server knows stays: other tags, the user, whether the device is enabled")
  func merge() throws {
    var known = try reading(#","user":"u17","tags":["plan:pro","lang:de"],"enabled":false,"tz":"UTC""#).device
    known.id = DeviceID(rawValue: "d1")
    let registration = AppRegistration(app: app, rules: [:], isSigned: false)
    let again = try #require(
      registration.merge(try reading(#","tags":["lang:fr"],"app_version":"2""#), into: known))
    #expect(again.tags == ["plan:pro", "lang:fr"])
    #expect(again.user == "u17")
    #expect(!again.enabled)
    #expect(again.timeZone == "UTC")
    #expect(again.appVersion == "2")
    #expect(registration.merge(try reading(""), into: known)?.tags == ["plan:pro", "lang:de"])
    #expect(try #require(registration.merge(try reading(#","user":null"#), into: known)).user == nil)
    // A device with another token is changed by its installation only.
    known.address.token = "t2"
    #expect(registration.merge(try reading(""), into: known) == nil)
    let installation = #","installation":"3f1f6d7c-0a4e-4c8f-9b1e-6f0c2d5a7e91""#
    #expect(registration.merge(try reading(installation), into: known)?.address.token == "t1")
  }
}

/// Of an app that has keys; no token holds.
private struct NobodysIdentity: IdentityVerifying {
  func user(in token: String, now: WallTime) throws(IdentityFault) -> String { throw IdentityFault("nobody") }
}
