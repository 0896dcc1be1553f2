import Configuration
import Domain
import Glibc
import Testing

@Suite("The annotated example")
struct ExampleTests {
  private func example() -> String { text(of: "Config/fanfare.example.json5") }

  private func text(of name: String) -> String {
    let path = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let file = open("/\(path)/\(name)", O_RDONLY)
    precondition(file >= 0, "\(name) is missing")
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  private func withKeys() -> Folder {
    let folder = Folder()
    for name in ["AuthKey_ABCDE12345.p8", "service-account.json", "onesignal-key", "vapid-key.pem", "identity-secret"] {
      folder.write("keys/\(name)")
    }
    folder.write("keys/identity.pub", mode: 0o644)
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
    #expect(configuration.quotas == plain.quotas)
    #expect(configuration.http2 == plain.http2)
    #expect(configuration.limits == plain.limits)
    #expect(configuration.tenantLimits == plain.tenantLimits)
    #expect(configuration.workers == plain.workers)
    #expect(configuration.pruneBrake == plain.pruneBrake)
    #expect(configuration.durability == plain.durability)
    #expect(configuration.logLevel == plain.logLevel)
    #expect(configuration.caFile == nil)
  }

  @Test("its waits and quotas are the vendors', and each of them stands there")
  func vendors() throws {
    // Read by somebody who knows none of them.
    let blank = providers.mapValues { terms in
      ProviderTerms(
        settings: terms.settings, retry: RetryRules(base: 7, maximum: 7),
        quota: Quota(perMinute: 7, rampUp: 7, timesSubscribers: terms.quota.timesSubscribers > 0 ? 7 : 0))
    }
    let read = try withKeys().parse(example(), blank)
    for provider in allProviders {
      #expect(read.retry[provider.name] == provider.retry, "\(provider.name.rawValue)")
      #expect(read.quotas[provider.name] == provider.quota, "\(provider.name.rawValue)")
    }
    #expect(read.retry.count == allProviders.count)
  }

  @Test("the table of waits and quotas in docs/operations.md is the vendors'")
  func documented() {
    let page = text(of: "docs/operations.md")
    func time(_ milliseconds: Int64) -> String {
      switch milliseconds {
      case let time where time % 3_600_000 == 0: "\(time / 3_600_000) h"
      case let time where time % 60_000 == 0: "\(time / 60_000) min"
      default: "\(milliseconds / 1_000) s"
      }
    }
    func list<Value>(_ values: [Retry.Cause: Value], _ text: (Value) -> String) -> String {
      let words = values.map { cause, value in
        let word = cause.rawValue.reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : String($1) }
        return "`\(word)` \(text(value))"
      }
      return words.isEmpty ? "–" : words.sorted().joined(separator: ", ")
    }
    for provider in allProviders {
      let (retry, quota) = (provider.retry, provider.quota)
      let cells = [
        "`\(provider.name.rawValue)`", time(retry.base), list(retry.floors, time), time(retry.maximum),
        list(retry.resendsAtOnce) { "\($0)" }, retry.giveUpAfter.map(time) ?? "–",
        quota.perMinute > 0 ? "\(quota.perMinute) a minute" : "–", quota.rampUp > 0 ? time(quota.rampUp) : "–",
      ]
      let row = "| \(cells.joined(separator: " | ")) |"
      #expect(page.contains(row), "\(row)")
    }
  }

  @Test("an APNs key for both environments becomes two credentials, and devices find theirs")
  func twoEnvironments() throws {
    let folder = withKeys()
    let entry = try #require(try folder.parse(example()).apps.first)
    #expect(
      entry.credentials.map(\.id.rawValue) == [
        "shop/apple:production", "shop/apple:sandbox", "shop/google", "shop/web", "shop/browsers:fcm.googleapis.com",
        "shop/browsers:updates.push.services.mozilla.com", "shop/browsers:web.push.apple.com",
        "shop/browsers:notify.windows.com",
      ])
    #expect(entry.places[1] == "/apps/0/credentials/0")
    let sandbox = Address(provider: .apns, token: "aa", environment: .sandbox)
    #expect(entry.app.credential(for: sandbox)?.rawValue == "shop/apple:sandbox")
    #expect(entry.app.credential(for: Address(provider: .fcm, token: "x"))?.rawValue == "shop/google")
    #expect(entry.credentials[0].files["key_file"] == Array("secret\n".utf8))
    #expect(entry.identityKeys.map(\.key.content) == [Array("secret".utf8), Array("secret\n".utf8)])
    #expect(entry.app.registration.origins == ["https://www.example.com"])
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
