import Domain
import Store

/// Devices that earlier replays of a message, or of one that it goes back to, have reached, or are still sending to: another
/// replay leaves them out. Used by one request, which looks at the deliveries of the message in their order.
struct EarlierReplays {
  /// Of a delivery that needs no other replay.
  private static let taken = Set(
    [Outcome.accepted.rawValue] + [DeliveryState.pending, .sending, .retrying, .blocked].map(\.rawValue))
  private static let page = 1_000
  /// Devices that are remembered though their replays were made for deliveries that are passed. No list has more.
  private static let most = 200_000

  private let store: Store
  private let app: AppID
  /// In the order of their first deliveries; those before `next` are read.
  private let replays: [Replay]
  private var next = 0
  private var read: [(replay: Replay, devices: Set<DeviceID>)] = []
  /// Replays that had a device which was left out, and how many devices were.
  private(set) var met: Set<MessageID> = []
  private(set) var leftOut = 0

  /// `replays`: of the message. Those that end before `start` are not looked at; nil: at the first delivery.
  init(_ replays: [Replay], from start: DeliveryPlace?, store: Store, app: AppID) {
    self.store = store
    self.app = app
    self.replays = replays.filter { replay in
      guard let start, let end = replay.next else { return true }
      return start < end
    }
    .sorted { left, right in
      guard let second = right.from else { return false }
      return left.from.map { $0 < second } ?? true
    }
  }

  /// Deliveries up to this place are looked at next; nil: all that are left.
  mutating func reach(_ place: DeliveryPlace?) async throws(Problem) {
    while next < replays.count, isBefore(replays[next].from, place) {
      var devices: Set<DeviceID> = []
      var seen: Set<MessageID> = []
      do throws(StoreError) {
        try await collect(replays[next].id, into: &devices, &seen)
      } catch {
        throw Problem(error)
      }
      if !devices.isEmpty { read.append((replays[next], devices)) }
      next += 1
    }
  }

  /// Deliveries before this place are looked at no more.
  mutating func pass(_ place: DeliveryPlace?) {
    guard let place, read.reduce(0, { $0 + $1.devices.count }) > Self.most else { return }
    read.removeAll { known in known.replay.next.map { $0 <= place } ?? false }
  }

  /// True: the device is to be left out.
  mutating func takes(_ device: DeviceID) -> Bool {
    // A member of an audience that was deleted since.
    guard !device.rawValue.isEmpty, let known = read.first(where: { $0.devices.contains(device) }) else { return false }
    met.insert(known.replay.id)
    leftOut += 1
    return true
  }

  private func isBefore(_ start: DeliveryPlace?, _ place: DeliveryPlace?) -> Bool {
    guard let start, let place else { return true }
    return start < place
  }

  /// Of a replay and of the replays of it: what failed there may have been sent by these.
  private func collect(_ id: MessageID, into devices: inout Set<DeviceID>, _ seen: inout Set<MessageID>)
    async throws(StoreError)
  {
    guard seen.insert(id).inserted else { return }
    var filter = DeliveryFilter()
    filter.states = Self.taken
    var cursor: DeliveryPlace?
    repeat {
      // Without a message: that replay was cut off before it was stored.
      let found = try await store.deliveries.page(id, app: app, filter: filter, cursor: cursor, limit: Self.page)
      guard let found else { return }
      for delivery in found.items { devices.insert(delivery.device) }
      cursor = found.next
    } while cursor != nil
    for later in try await store.replays.all(of: id) { try await collect(later.id, into: &devices, &seen) }
  }
}

extension EarlierReplays {
  private static let named = 3

  /// `msg_01… and msg_02…`, of those that had a device which was left out.
  private var names: String {
    let all = met.sorted().map(\.description)
    guard all.count <= Self.named else { return all.suffix(Self.named).joined(separator: ", ") + " and others" }
    return all.joined(separator: " and ")
  }

  /// What was left out; nil: nothing.
  var notice: Notice? {
    guard leftOut > 0 else { return nil }
    let (devices, them) = leftOut == 1 ? ("1 device is", "it") : ("\(grouped(leftOut)) devices are", "them")
    return Notice(
      pointer: "", code: "already_replayed",
      detail: "\(devices) left out: an earlier replay has reached \(them), or still sends to \(them) (\(names))")
  }

  /// Nothing else was found.
  var problem: Problem? {
    guard leftOut > 0 else { return nil }
    let devices =
      leftOut == 1
      ? "the device of the only such delivery, or still sends to it"
      : "the devices of all \(grouped(leftOut)) such deliveries, or still sends to them"
    return Problem(.nothingToReplay, "An earlier replay has reached \(devices): see \(names)")
  }
}
