import Domain
import Support
import Testing

@testable import Store

@Suite("A glance at a record")
struct DeviceRecordHeaderStories {
  @Test("sees what the whole record says", arguments: [5, UInt64.random(in: 0..<1 << 32)])
  func agrees(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    for _ in 0..<300 {
      let device = random.storedDevice()
      var record = DeviceRecord(device, bornAt: WallTime(milliseconds: random.time()))
      record.userVersion = device.device.user == nil ? 0 : 3
      var words = StringTable()
      record.forEachRepeatingText { if Bool.random(using: &random) { words.learn($0, words.count) } }
      let packed = record.packed(words)
      let whole = try DeviceRecord(packed: packed, words)
      let header = try DeviceRecordHeader(packed, 0..<packed.count)
      var address = whole.stored.device.address
      address.liveActivityToken = nil
      #expect(try header.address(packed, words) == address, "seed \(seed)")
      #expect(try header.facts(packed, words) == whole.stored.device.facts, "seed \(seed)")
      #expect(try header.deviceID(packed) == whole.stored.device.id, "seed \(seed)")
      #expect(header.bornAt == whole.bornAt)
      #expect((header.gone == .dead) == (whole.stored.tombstone != nil))
      #expect((header.gone == nil) == (whole.stored.tombstone == nil && whole.stored.device.enabled))
      var token: [UInt8] = [1]
      try header.token(packed, into: &token)
      #expect(token.elementsEqual(address.token.utf8), "seed \(seed)")
      for length in 0..<packed.count {
        // Cut off anywhere it may be unreadable, and never a crash.
        guard let cut = try? DeviceRecordHeader(packed, 0..<length) else { continue }
        _ = try? cut.facts(packed, words)
      }
    }
  }
}
