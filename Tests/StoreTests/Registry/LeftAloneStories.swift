import Domain
import Loop
import Support
import Testing

@testable import Store

@Suite("A registration that may not change what it finds changes nothing", .serialized)
struct LeftAloneStories {
  /// Like the rule of `register` keys: the device holds this token.
  private static func own(_ device: Device) -> (Device) -> Device? {
    { known in known.address.holdsSameToken(as: device.address) ? device : nil }
  }

  @Test("a device that has another token by now stays as it is: token, user, sets and aliases")
  func former() async throws {
    try await withStore { store, loop in
      let first = device("", token: "aa")
      let id = try #require(try await store.devices.put(first, app: shop).id)
      var holder = device(id.rawValue, token: "bb")
      holder.user = "ann"
      holder.tags = ["plan:pro"]
      _ = try await store.devices.put(holder, app: shop)
      let before = try await store.devices.device(id, app: shop)

      var late = device("", token: "aa", at: 2_000)
      late.user = "bob"
      #expect(try await store.devices.put(late, app: shop, merging: Self.own(late)) == .leftAlone)
      #expect(try await store.devices.device(id, app: shop) == before)
      #expect(try await store.users.user("bob", app: shop) == nil, "nobody's device was entered for it")
      #expect(try await store.tokens.owners(of: [address("aa")], app: shop)[0] == nil)
      #expect(try await store.tokens.owners(of: [address("bb")], app: shop)[0]?.device.id == id)

      // Under an id of its own it has its token, and finds it again.
      late.id = DeviceID.random()
      #expect(try await store.devices.put(late, app: shop, merging: Self.own(late)) == .stored(late.id, .created))
      let again = device("", token: "aa", at: 3_000)
      #expect(try await store.devices.put(again, app: shop, merging: Self.own(again)) == .stored(late.id, .updated))
      #expect(try await store.devices.device(id, app: shop) == before)
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
      try await store.expectTrueSets(app: shop, "left alone")
    }
  }

  @Test("one that has ended with another token stays so")
  func ended() async throws {
    try await withStore { store, loop in
      let id = try #require(try await store.devices.put(device("", token: "aa"), app: shop).id)
      _ = try await store.devices.put(device(id.rawValue, token: "bb"), app: shop)
      _ = try await store.devices.put(device("other", token: "bb"), app: shop)
      let before = try await store.devices.device(id, app: shop)
      #expect(before?.tombstone?.reason == "moved:other")
      let late = device("", token: "aa", at: 2_000)
      #expect(try await store.devices.put(late, app: shop, merging: Self.own(late)) == .leftAlone)
      #expect(try await store.devices.device(id, app: shop) == before)
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
    }
  }

  @Test("of several, only those are left alone")
  func several() async throws {
    try await withStore { store, loop in
      _ = try await store.devices.put([device("a", token: "aa"), device("b", token: "bb")], app: shop)
      let next = [device("a", token: "cc"), device("b", token: "dd"), device("c", token: "ee")]
      let results = try await store.devices.put(next, app: shop) { at, _ in at == 0 ? nil : next[at] }
      #expect(
        results == [
          .leftAlone, .stored(DeviceID(rawValue: "b"), .updated), .stored(DeviceID(rawValue: "c"), .created),
        ])
      #expect(try await store.devices.device(DeviceID(rawValue: "a"), app: shop)?.device.address.token == "aa")
      #expect(try await store.registryCheck.reindex(shop, repair: false).isClean)
      try await store.expectTrueSets(app: shop, "several")
    }
  }
}
