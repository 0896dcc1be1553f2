import Audience
import Domain
import Loop
import Store
import Testing

@Suite("Members by the class of their zone")
struct ZoneClassStories {
  @Test("devices without a zone and those whose clock agrees with theirs are one group, in ascending order")
  func zoneless() async throws {
    try await withStore(quickSettings(partitions: 1)) { store, loop in
      for number in 0..<40 {
        var device = Device(
          id: DeviceID(rawValue: "d\(number)"), address: address("ab\(number)"),
          registeredAt: WallTime(milliseconds: 1_000))
        device.timeZone = [nil, "Etc/GMT", "Etc/GMT-9"][number % 3]
        _ = try await store.devices.put(device, app: shop)
      }
      let groups = try await store.audiences.members(
        AudienceSelection(expression: .everyone), app: shop, partition: 0, now: loop.wallNow,
        zoneClass: { $0 == "Etc/GMT-9" ? 1 : 0 })
      #expect(groups.count == 2)
      #expect(groups.reduce(0) { $0 + $1.numbers.count } == 40)
      for group in groups { #expect(group.numbers == group.numbers.sorted(), "\(group)") }
    }
  }
}
