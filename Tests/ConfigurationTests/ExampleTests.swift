import Configuration
import Domain
import Glibc
import Testing

@Suite("The annotated example")
struct ExampleTests {
  private func example() -> String {
    let path = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let file = open("/\(path)/Config/fanfare.example.json5", O_RDONLY)
    precondition(file >= 0, "the example is missing")
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  private func withKeys() -> Folder {
    let folder = Folder()
    for name in ["AuthKey_ABCDE12345.p8", "service-account.json", "onesignal-key", "user-secret"] {
      folder.write("keys/\(name)")
    }
    return folder
  }

  @Test("it loads, and what it shows as defaults are the defaults")
  func loads() throws {
    let folder = withKeys()
    let configuration = try folder.parse(example())
    folder.write("keys/google")
    let plain = try folder.parse("{ \(Folder.app) }")
    #expect(configuration.redis == plain.redis)
    #expect(configuration.listen == plain.listen)
    #expect(configuration.partitions == plain.partitions)
    #expect(configuration.retention == plain.retention)
    #expect(configuration.lanes == plain.lanes)
    #expect(configuration.retry == plain.retry)
    #expect(configuration.http2 == plain.http2)
    #expect(configuration.limits == plain.limits)
    #expect(configuration.workers == plain.workers)
    #expect(configuration.pruneBrake == plain.pruneBrake)
    #expect(configuration.durability == plain.durability)
    #expect(configuration.logLevel == plain.logLevel)
    #expect(configuration.caFile == nil)
  }

  @Test("an APNs key for both environments becomes two credentials, and devices find theirs")
  func twoEnvironments() throws {
    let folder = withKeys()
    let entry = try #require(try folder.parse(example()).apps.first)
    #expect(
      entry.credentials.map(\.id.rawValue) == [
        "shop/apple:production", "shop/apple:sandbox", "shop/google", "shop/web",
      ])
    #expect(entry.places[1] == "/apps/0/credentials/0")
    let sandbox = Address(provider: .apns, token: "aa", environment: .sandbox)
    #expect(entry.app.credential(for: sandbox)?.rawValue == "shop/apple:sandbox")
    #expect(entry.app.credential(for: Address(provider: .fcm, token: "x"))?.rawValue == "shop/google")
    #expect(entry.credentials[0].files["key_file"] == Array("secret\n".utf8))
    #expect(entry.app.userSecret == Array("secret".utf8))
    #expect(entry.app.registerTags == ["lang:*", "news"])
  }

  @Test(
    "the text after every comment mark of a default line is optional: without the example's comments it still loads")
  func withoutComments() throws {
    let folder = withKeys()
    let bare = example().split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(
      separator: "\n")
    _ = try folder.parse(bare)
  }
}
