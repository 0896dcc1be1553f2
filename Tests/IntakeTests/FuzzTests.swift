import Domain
import Intake
import JSON
import Support
import Testing

@Suite("Nothing a client sends harms the gateway")
struct FuzzTests {
  private static let names = Array(Set(Schema.all.flatMap(\.fields))).sorted() + ["titel", "aps", "x"]
  private static let words = [
    "", "alert", "background", "high", "apns", "fcm", "abcd", "https://a.example", "#aabbcc", "a\r\nb", "{{x}}", "d1",
    "alias:external_id:1", "2026-12-01T09:00:00Z", "\u{0}", "é", "/", "~",
  ]

  private static func value(_ depth: Int, _ random: inout Seeded) -> JSONValue {
    switch Int.random(in: 0..<(depth > 4 ? 7 : 11), using: &random) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &random))
    case 2: return .integer(Int64.random(in: -3...5, using: &random))
    case 3: return .integer([Int64.min, Int64.max, 60, 2_419_200].randomElement(using: &random) ?? 0)
    case 4: return .double([0.5, -0.1, 1e300].randomElement(using: &random) ?? 0)
    case 5, 6: return .string(words.randomElement(using: &random) ?? "")
    case 7:
      return .array((0..<Int.random(in: 0...4, using: &random)).map { _ in value(depth + 1, &random) })
    default:
      var members: [JSONMember] = []
      for _ in 0..<Int.random(in: 0...8, using: &random) {
        guard let name = names.randomElement(using: &random), !members.contains(where: { $0.key == name }) else {
          continue
        }
        members.append(JSONMember(name, value(depth + 1, &random)))
      }
      return .object(members)
    }
  }

  /// A valid message or device, some of whose values are replaced at random.
  private static func mutated(_ value: JSONValue, _ random: inout Seeded) -> JSONValue {
    if Int.random(in: 0..<20, using: &random) == 0 { return self.value(3, &random) }
    switch value {
    case .array(let items): return .array(items.map { mutated($0, &random) })
    case .object(let members):
      var changed = members.map { JSONMember($0.key, mutated($0.value, &random)) }
      if Int.random(in: 0..<15, using: &random) == 0, let name = names.randomElement(using: &random),
        !members.contains(where: { $0.key == name })
      {
        changed.append(JSONMember(name, self.value(2, &random)))
      }
      return .object(changed)
    default: return value
    }
  }

  private static func hasUnknown(_ value: JSONValue?, _ schema: Schema) -> Bool {
    guard let members = value?.object else { return false }
    return members.contains { !schema.fields.contains($0.key) }
  }

  @Test(
    "random documents never crash Intake, and none with an unknown field passes",
    arguments: [UInt64.random(in: 0...UInt64.max), 1, 2])
  func fuzz(_ seed: UInt64) throws {
    print("fuzz seed \(seed)")
    var random = Seeded(seed: seed)
    let message = try document(
      #"""
      {"to":{"tokens":[{"provider":"apns","token":"abcd"},{"provider":"fcm","token":"x"}]},"kind":"alert",
       "notification":{"title":"T","sound":{"name":"a"},"buttons":[{"id":"a","text":"b"}],"title_key":"k","title_args":["x"]},
       "data":{"a":1},"ttl":5,"overrides":{"apns":{"aps":{},"headers":{"apns-priority":"5"}},"fcm":{"android":{}}}}
      """#)
    let device = try document(
      #"{"provider":"fcm","token":"x","tags":["a"],"attributes":{"a":1},"language":"de","tz":"UTC"}"#)
    var accepted = 0
    for round in 0..<4_000 {
      let candidate = round % 2 == 0 ? Self.mutated(message, &random) : Self.value(0, &random)
      if let reading = try? MessageReader.read(candidate, providers: knownProviders) {
        accepted += 1
        #expect(!Self.hasUnknown(candidate, .message), "seed \(seed)")
        #expect(!Self.hasUnknown(candidate["to"], .recipients), "seed \(seed)")
        #expect(!Self.hasUnknown(candidate["notification"], .notification), "seed \(seed)")
        #expect(!Self.hasUnknown(candidate["notification"]?["sound"], .sound), "seed \(seed)")
        #expect(!Self.hasUnknown(candidate["overrides"], .overrides), "seed \(seed)")
        #expect((0...Message.maximumTTL).contains(reading.message.ttl))
      }
      let registered = round % 2 == 0 ? Self.mutated(device, &random) : candidate
      if (try? DeviceReader.read(registered, id: nil, now: noon, providers: knownProviders)) != nil {
        #expect(!Self.hasUnknown(registered, .device), "seed \(seed)")
      }
    }
    // A generator that never makes a valid message would prove nothing.
    #expect(accepted > 100)
  }
}
