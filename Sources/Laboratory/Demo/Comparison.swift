import Domain

/// What the sandbox logged about one request to one token.
struct Received: Hashable, Sendable {
  var provider: String
  var token: String
  /// 0: no answer went out.
  var status: Int
  /// The vendor took it for delivery.
  var accepted: Bool
  /// The vendor's name for it: FCM's name, OneSignal's id; for APNs the `apns-id`.
  var name: String
}

/// What the gateway says about one delivery.
struct Recorded: Hashable, Sendable {
  var message: String
  var device: String
  var state: String
  var reason: String?
  var providerID: String?
  /// HTTP statuses of its attempts in order; 0 without an answer.
  var statuses: [Int]
}

/// Holds the sandbox's log against the gateway's record, delivery by delivery. Every device must have been a target of
/// exactly one message, so that its token names the delivery.
struct Comparison {
  private(set) var differences: [String] = []
  private(set) var outcomes: [String: Int] = [:]
  private(set) var reasons: [String: Int] = [:]
  /// Deliveries that took more than one attempt and were accepted.
  private(set) var retried = 0
  /// Requests that a vendor took although it had taken the delivery before: possible only after an unknown outcome.
  private(set) var duplicates = 0
  private(set) var deliveries = 0
  private(set) var requests = 0

  init(members: [Population.Member], recorded: [Recorded], received: [Received]) {
    var log: [String: [Received]] = [:]
    for entry in received { log["\(entry.provider) \(entry.token)", default: []].append(entry) }
    requests = received.count
    var records: [String: [Recorded]] = [:]
    for record in recorded { records[record.device, default: []].append(record) }
    for member in members {
      let mine = records.removeValue(forKey: member.id) ?? []
      let seen = log.removeValue(forKey: "\(member.provider.rawValue) \(member.token)") ?? []
      guard mine.count == 1, let record = mine.first else {
        differences.append("\(member.id): \(mine.count) deliveries recorded instead of one")
        continue
      }
      deliveries += 1
      compare(member, record, seen)
    }
    for device in records.keys.sorted() { differences.append("\(device): recorded, but nobody's target") }
    for key in log.keys.sorted() { differences.append("\(key): received by the sandbox, but nobody's token") }
  }

  private mutating func compare(_ member: Population.Member, _ record: Recorded, _ seen: [Received]) {
    outcomes[record.state, default: 0] += 1
    if record.state != "accepted", let reason = record.reason { reasons["\(record.state): \(reason)", default: 0] += 1 }
    let taken = seen.filter(\.accepted)
    let answered = seen.filter { $0.status != 0 }.map(\.status)
    let told = record.statuses.filter { $0 != 0 }
    if answered != told {
      differences.append(
        "\(member.id): the sandbox answered \(seen.map(\.status)), the gateway recorded \(record.statuses)")
    }
    let unanswered = seen.filter { $0.status == 0 }.count
    if taken.count > 1 {
      duplicates += taken.count - 1
      if taken.count - 1 > unanswered {
        differences.append("\(member.id): taken \(taken.count) times, with \(unanswered) unknown outcomes")
      }
    }
    switch record.state {
    case "accepted":
      if record.statuses.count > 1 { retried += 1 }
      if taken.isEmpty { differences.append("\(member.id): recorded as accepted, but the sandbox took nothing") }
      if let id = record.providerID, !taken.contains(where: { $0.name == id }) {
        differences.append("\(member.id): recorded under \(id), which the sandbox never gave")
      }
    case "dead", "failed", "expired":
      if answered.last == 200, member.provider != .oneSignal {
        differences.append("\(member.id): recorded as \(record.state), but the sandbox took it")
      }
    default: differences.append("\(member.id): ended as \(record.state), which no fault of the demo explains")
    }
    let expected: Set<String>
    switch member.route {
    case .healthy: expected = ["accepted"]
    case .dying, .returned: expected = ["dead"]
    case .refused: expected = member.provider == .apns ? ["failed"] : ["accepted"]
    }
    if !expected.contains(record.state) {
      differences.append(
        "\(member.id) (\(member.route)): \(record.state) \(record.reason ?? ""), expected \(expected.sorted().joined())"
      )
    }
  }
}
