import Domain
import Intake
import Loop
import Store

/// The id that a token has by itself, and the device that is registered with it.
typealias TokenOwner = (id: DeviceID, owner: StoredDevice?)

/// How it is learned which device is registered with a token that a message names.
enum OwnerLookup {
  /// Redis is asked before the message is prepared.
  case lookedUp
  /// In the order of the message's tokens.
  case known([TokenOwner])
  /// A single token is taken for one that is registered nowhere, and the script that stores the message makes sure.
  case askedByStore
}

/// Finds out whom a message is for. Belongs to the loop.
final class RecipientResolver {
  let loop: EventLoop
  let store: Store
  let configuration: AdoptedConfiguration
  let maximumTargets: Int
  /// An audience with more members is kept as one, and its workers find them.
  let urgentTargets: Int
  let audiences: AudienceResolver
  let hints: TagHints
  let zones: ZoneBook

  init(
    loop: EventLoop, store: Store, configuration: AdoptedConfiguration, settings: ServiceSettings,
    audiences: AudienceResolver, hints: TagHints, zones: ZoneBook
  ) {
    self.loop = loop
    self.store = store
    self.configuration = configuration
    maximumTargets = settings.maximumTargets
    urgentTargets = settings.urgentTargets
    self.audiences = audiences
    self.hints = hints
    self.zones = zones
  }

  /// More would take the loop, and Redis, longer than others should wait.
  private static let recipientsAtOnce = 1_000

  /// Who is meant by name or token, each device once, in the order asked for, and what becomes of it.
  func resolveListed(
    _ message: Message, _ app: AppID, keepsDevices: Bool, owners: OwnerLookup = .lookedUp
  ) async throws(Problem) -> ResolvedRecipients {
    let resolver = configuration.resolver(try configuration.tenant(app), message)
    var targets: [SubmissionTarget] = []
    var kept: [StoredDevice?] = []
    var others: [Forecast.Exclusion: Int] = [:]
    var warnings: [Notice] = []
    var ofUsers: [[StoredDevice]] = []
    var asksOwner = false
    if case .channel(let address) = message.to { try await checkOwner(ofChannel: address, app) }
    if case .users(let users) = message.to { ofUsers = try await devices(ofUsers: users, app) }
    do throws(StoreError) {
      switch message.to {
      case .devices(let ids):
        targets.reserveCapacity(ids.count)
        for some in ids.parts(of: Self.recipientsAtOnce) {
          let stored = try await store.devices.devices(Array(some), app: app)
          for (id, device) in zip(some, stored) { targets.append(resolver.target(id, device)) }
          if keepsDevices { kept += stored }
        }
      case .tokens(let addresses):
        let found: [TokenOwner]
        switch owners {
        case .known(let known): found = known
        case .askedByStore where addresses.count == 1 && !keepsDevices:
          found = [(DeviceID.derived(of: addresses[0], in: app), nil)]
          asksOwner = true
        case .askedByStore, .lookedUp: found = []
        }
        targets.reserveCapacity(addresses.count)
        for some in addresses.parts(of: Self.recipientsAtOnce) {
          let owners =
            found.isEmpty
            ? try await store.tokens.ownersAndIDs(of: Array(some), app: app)[...] : found[some.indices]
          for (address, found) in zip(some, owners) {
            targets.append(found.owner.map(resolver.target) ?? resolver.target(address, id: found.id))
          }
          if keepsDevices { kept += owners.map(\.owner) }
        }
      case .users(let users):
        for device in ofUsers.joined() {
          if let exclusion = resolver.exclusion(ofUsersDevice: device) {
            others[exclusion, default: 0] += 1
          } else {
            targets.append(resolver.target(device))
            if keepsDevices { kept.append(device) }
          }
        }
        warnings = Notice.ofUsersWithoutDevices(zip(users, ofUsers).map { ($0, $1.isEmpty) })
      case .channel(let address):
        targets = [resolver.target(address)]
        if keepsDevices { kept = [nil] }
      case .audience, .everyone: preconditionFailure("an audience is counted, not listed")
      }
    } catch {
      throw Problem(error)
    }
    if targets.count > 1 {
      await loop.giveWay()
      var seen = Set<DeviceID>(minimumCapacity: targets.count)
      let first = targets.map { seen.insert($0.device).inserted }
      if seen.count < targets.count {
        if keepsDevices { kept = zip(kept, first).filter(\.1).map(\.0) }
        targets = zip(targets, first).filter(\.1).map(\.0)
      }
    }
    let recipients = ResolvedRecipients(targets: targets, devices: kept, warnings: warnings)
    recipients.others = others
    recipients.asksOwner = asksOwner
    return recipients
  }

  private func checkOwner(ofChannel address: Address, _ app: AppID) async throws(Problem) {
    let isOpen: Bool
    do throws(StoreError) {
      isOpen = try await !store.channels.open([address.token], in: address.environment, to: app).isEmpty
    } catch {
      throw Problem(error)
    }
    guard !isOpen else { return }
    let detail = "this app has no such channel: another app has created it"
    throw Problem(
      .invalidMessage, detail, violations: [Violation("/to/channel/id", Violation.Code.notAllowed, detail)])
  }

  /// Refuses users who have more devices than a message may have targets before any of those is read.
  private func devices(ofUsers users: [String], _ app: AppID) async throws(Problem) -> [[StoredDevice]] {
    let maximum = maximumTargets
    let found: [[StoredDevice]]?
    do throws(StoreError) {
      found = try await store.users.devices(ofUsers: users, app: app, atMost: maximum)
    } catch {
      throw Problem(error)
    }
    guard let found else {
      let detail = "these users have more than \(maximum) devices; a message may have \(maximum) targets"
      throw Problem(
        .invalidMessage, detail, violations: [Violation("/to/users", Violation.Code.tooMany, detail)])
    }
    return found
  }
}

extension Array {
  /// One after another, each of `size` elements but the last.
  fileprivate func parts(of size: Int) -> some Sequence<ArraySlice<Element>> {
    stride(from: 0, to: count, by: size).lazy.map { self[$0..<Swift.min($0 + size, count)] }
  }
}
