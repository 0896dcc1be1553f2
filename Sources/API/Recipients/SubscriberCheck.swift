import Domain
import Loop
import Store

/// Whether a message would reach more than a vendor lets pass: some disable an app that reaches too many for its
/// subscribers. Keeps what it learned for a while. Belongs to the loop.
final class SubscriberCheck {
  /// Milliseconds that a count of subscribers holds, and what was reached.
  private static let recount: Int64 = 60_000
  private static let ask: Int64 = 1_000

  /// What is known of an account.
  private struct Entry {
    var subscribers: Int
    var countedAt: Instant
    var reached: Int
    var askedAt: Instant?
  }

  private let loop: EventLoop
  private let store: Store
  private let configuration: AdoptedConfiguration
  private var entries: [CredentialID: Entry] = [:]

  init(loop: EventLoop, store: Store, configuration: AdoptedConfiguration) {
    self.loop = loop
    self.store = store
    self.configuration = configuration
  }

  /// Warns of a message with which more would be reached than the vendor lets pass: the workers hold it back.
  func notices(of recipients: ResolvedRecipients, _ app: AppID) async throws(Problem)
    -> [Notice]
  {
    guard recipients.credentials.contains(where: { configuration.accounts[$0]?.subscriberRule != nil }) else {
      return []
    }
    var warnings: [Notice] = []
    for (id, count) in recipients.recipients.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      guard let account = configuration.accounts[id], let rule = account.subscriberRule,
        case let times = configuration.timesSubscribers[account.provider] ?? 0, times > 0
      else { continue }
      let entry: Entry
      do throws(StoreError) {
        entry = try await self.entry(id, account.provider, rule, app)
      } catch {
        throw Problem(error)
      }
      let most = entry.subscribers.multipliedReportingOverflow(by: times)
      guard entry.subscribers > 0, !most.overflow, entry.reached + count > most.partialValue else { continue }
      warnings.append(
        Notice(
          pointer: "/to", code: SubscriberRule.reason,
          detail:
            "\(account.provider.rawValue): with these \(count), the app would reach \(entry.reached + count) "
            + "subscribers in 15 "
            + "minutes, more than \(times) times the \(entry.subscribers) registered here. The vendor disables such "
            + "an app, so the excess deliveries wait"))
    }
    return warnings
  }

  private func entry(_ id: CredentialID, _ provider: ProviderName, _ rule: SubscriberRule, _ app: AppID)
    async throws(StoreError) -> Entry
  {
    let now = loop.now
    var entry = entries[id]
    if entry.map({ now - $0.countedAt >= Self.recount }) ?? true {
      let tenant = configuration.apps[app]
      let count = try await store.audiences.subscribers(of: app, by: provider, now: loop.wallNow) { address in
        tenant?.credential(for: address) == id
      }
      entry = .init(subscribers: count, countedAt: now, reached: entry?.reached ?? 0, askedAt: nil)
    }
    guard var entry else { preconditionFailure("it was made above") }
    if entry.subscribers > 0, entry.askedAt.map({ now - $0 >= Self.ask }) ?? true {
      entry.reached = try await store.recipients.reached(in: store.recipients.window(under: rule))
      entry.askedAt = now
    }
    entries[id] = entry
    return entry
  }
}

extension ResolvedRecipients {
  /// How many each account would reach, as far as they are counted here.
  var recipients: [CredentialID: Int] {
    var counts = countsByCredential
    for target in targets {
      if case .queue(let credential) = target.route, target.address?.tokenKind != .subscribers {
        counts[credential, default: 0] += 1
      }
    }
    return counts
  }
}
