import Domain
import Loop
import Support
import Testing

@testable import Store

@Suite("Devices are exported")
struct ExportStories {
  @Test("an export tells every device once, by pages")
  func export() async throws {
    try await withStore(quickSettings(partitions: 3)) { store, loop in
      let phones = (0..<500).map { device("d\($0)", token: "t\($0)") }
      _ = try await store.devices.put(phones, app: shop)
      _ = try await store.devices.put(device("heir", token: "t0"), app: shop)
      for tombstones in [false, true] {
        var told: [String] = []
        var place: ExportPlace?
        repeat {
          let page = try await store.export.page(shop, after: place, limit: 90, tombstones: tombstones)
          told += page.devices.map(\.device.id.rawValue)
          place = page.next.flatMap { ExportPlace(text: $0.text) }
        } while place != nil
        #expect(Set(told).count == told.count)
        #expect(told.count == (tombstones ? 501 : 500))
      }
    }
  }

  @Test("an export has one order, also in a process that has not read a device before")
  func exportOrder() async throws {
    let server = RedisServer()
    try await withStore(quickSettings(partitions: 2), server: server) { store, loop in
      let phones = (0..<300).map { number in
        var phone = device("d\(number)", token: "t\(number)")
        if number.isMultiple(of: 3) { phone.platform = "os\(number % 7)" }
        return phone
      }
      _ = try await store.devices.put(phones, app: shop)
      let fresh = Store(loop: loop, redis: server.endpoint, settings: quickSettings(partitions: 2))
      try await fresh.open(timeout: 60_000)
      defer { fresh.close() }
      var told: [[String]] = []
      for store in [fresh, fresh, store] {
        let page = try await store.export.page(shop, after: nil, limit: 1_000, tombstones: false)
        told.append(page.devices.map(\.device.id.rawValue))
      }
      #expect(told[0].count == 300 && told[0] == told[1] && told[1] == told[2])
    }
  }
}
