import API
import Domain
import Intake
import JSON
import Testing

@Suite("A key that ships inside an app can do no harm")
struct AppRegistrationTests {
  private var app: App {
    var app = App(id: AppID(rawValue: "shop"))
    app.userSecret = Array("secret".utf8)
    app.registerTags = ["lang:*", "beta"]
    return app
  }
  private let now = WallTime(seconds: 1_795_262_400)

  private func reading(_ members: String) throws -> DeviceReading {
    let text = #"{"provider":"fcm","token":"t1"\#(members)}"#
    return try DeviceReader.read(JSON.parse(Array(text.utf8)), id: nil, now: now)
  }

  private func outcome(_ members: String, _ app: App) throws -> [String] {
    let reading = try reading(members)
    do throws(Problem) {
      try AppRegistration(app: app).check(reading)
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

  @Test("it names a user only with the app's signature")
  func user() throws {
    // HMAC-SHA256("secret", "u17"), computed with openssl.
    let good = "eb7f1fa802d7dc0a062f3fa3669b9890ff3b565e9c44bcbf98a81e23441ce40f"
    #expect(try outcome(#","user":"u17","user_signature":"\#(good)""#, app) == [])
    #expect(try outcome(#","user":"u17","user_signature":"\#(good.uppercased())""#, app) == [])
    for wrong in [
      #","user":"u18","user_signature":"\#(good)""#, #","user":"u17""#, #","user":"u17","user_signature":"00""#,
    ] {
      #expect(try outcome(wrong, app) == ["invalid_user_signature", "/user_signature"])
    }
    var open = app
    open.userSecret = nil
    #expect(
      try outcome(#","user":"u17","user_signature":"\#(good)""#, open) == ["invalid_user_signature", "/user_signature"])
  }

  @Test("what the server knows stays: other tags, the user, whether the device is enabled")
  func merge() throws {
    var known = try reading(#","user":"u17","tags":["plan:pro","lang:de"],"enabled":false,"tz":"UTC""#).device
    known.id = DeviceID(rawValue: "d1")
    let registration = AppRegistration(app: app)
    let again = registration.merge(try reading(#","tags":["lang:fr"],"app_version":"2""#), into: known)
    #expect(again.tags == ["plan:pro", "lang:fr"])
    #expect(again.user == "u17")
    #expect(!again.enabled)
    #expect(again.timeZone == "UTC")
    #expect(again.appVersion == "2")
    #expect(registration.merge(try reading(""), into: known).tags == ["plan:pro", "lang:de"])
    #expect(registration.merge(try reading(#","user":null"#), into: known).user == nil)
  }
}
