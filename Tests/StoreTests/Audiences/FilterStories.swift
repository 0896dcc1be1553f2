import Domain
import Loop
import Testing

@testable import Store

@Suite("Deliveries by what they have in common")
struct FilterStories {
  /// All pages.
  private static func all(_ store: Store, _ id: MessageID, _ filter: DeliveryFilter = DeliveryFilter()) async throws
    -> [DeliveryReport]
  {
    var items: [DeliveryReport] = []
    var cursor: DeliveryPlace?
    repeat {
      let page = try #require(
        try await store.deliveries.page(id, app: shop, filter: filter, cursor: cursor, limit: 50))
      items += page.items
      cursor = page.next
    } while cursor != nil && items.count < 10_000
    return items
  }

  /// Of each eight targets one goes each way, and one stays pending.
  private static func endSome(_ store: Store) async throws {
    var place = 0
    for partition in 0..<store.session.settings.partitions {
      let lease = try await store.take(partition)
      try await store.startAll(lease, now: store.session.loop.wallNow)
      var flush = Flush(lease: lease, number: 1)
      for target in try await store.claimAll(lease).flatMap(\.targets) {
        place += 1
        guard let provider = target.address?.provider else { continue }
        let ends: [(Outcome, String?)] = [
          (.accepted, nil), (.failed, "Bad"), (.dead, "Gone"), (.expired, "Bad"), (.superseded, nil),
        ]
        guard place % 8 < ends.count else {
          guard place % 8 < 7 else { continue }
          // One was tried and waits for its retry, one only waits for its time, and counts as pending.
          let attempt = Attempt(at: store.session.loop.wallNow, verdict: "retry", reason: "Busy", status: 503)
          flush.retries.append(
            Flush.RetryEntry(
              target: target, due: store.session.loop.wallNow + 60_000, reason: "Busy",
              attempts: place % 8 == 5 ? [attempt] : []))
          continue
        }
        let (outcome, reason) = ends[place % 8]
        flush.finals.append(
          Flush.Final(
            delivery: target.delivery, device: target.device, provider: provider, outcome: outcome, reason: reason))
      }
      _ = try await store.outcomes.flush(flush)
    }
  }

  @Test(
    "each filter, and any of them together, lists exactly what the whole list has of it", arguments: [true, false],
    [true, false])
  func exact(_ isAudience: Bool, _ isBlocked: Bool) async throws {
    try await withStore { store, loop in
      let count = 160
      let crowd = try await Crowd.register(count, in: store)
      var submission = try await Crowd.submission(store, count, at: loop.wallNow)
      submission.shares = VariantStories.shares
      if !isAudience {
        submission.audience = nil
        for found in try await store.records.find(crowd.devices, app: shop).compactMap({ $0?.device }) {
          submission.targets.append(
            SubmissionTarget(
              device: found.id, registered: true, address: found.address, route: Crowd.route(found.address),
              platform: found.platform))
        }
      }
      let id = try #require(try await store.acceptance.accept(submission).id)
      try await Self.endSome(store)
      if isBlocked {
        try await store.conditions.set(
          apnsCredential, CredentialCondition(.blocked, reason: "Revoked", since: loop.wallNow))
      }
      let whole = try await Self.all(store, id)
      #expect(Set(whole.map(\.device)) == Set(crowd.devices) && whole.count == count)

      let states: [Set<String>?] = [
        nil, ["pending"], ["retrying"], ["blocked"], ["failed"], ["dead", "accepted"], ["expired", "retrying"],
        ["superseded"], ["skipped"], ["cancelled"],
      ]
      let seen = Set(whole.map(\.state))
      #expect(
        seen.isSuperset(of: ["pending", "retrying", "accepted", "failed", "dead", "expired", "superseded"]), "\(seen)")
      #expect(seen.contains("blocked") == isBlocked, "\(seen)")
      var found = 0
      for states in states {
        for reason in [nil, "Bad", "Gone", "Busy", "holdout", "none"] {
          for provider in [nil, ProviderName.apns, .fcm] {
            for (platform, variant) in [(nil, nil), ("ios", nil), ("", nil), (nil, "b"), ("android", "a")] {
              var filter = DeliveryFilter()
              (filter.states, filter.reason, filter.provider) = (states, reason, provider)
              (filter.platform, filter.variant) = (platform, variant)
              let wanted = whole.filter {
                (states == nil || states!.contains($0.state)) && (reason == nil || $0.reason == reason)
                  && (provider == nil || $0.provider == provider)
                  && (platform == nil || ($0.platform ?? "") == platform)
                  && (variant == nil || $0.variant == variant)
              }
              let listed = try await Self.all(store, id, filter)
              #expect(listed.map(\.device) == wanted.map(\.device), "\(filter)")
              found += listed.isEmpty ? 0 : 1
            }
          }
        }
      }
      // Nothing of it was said of empty lists only.
      #expect(found > 100, "\(found)")
    }
  }
}
