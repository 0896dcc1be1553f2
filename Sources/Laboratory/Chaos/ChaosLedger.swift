/// One request that the vendors' stand-ins took for delivery.
struct ChaosArrival: Hashable, Sendable {
  var provider: String
  var token: String
  /// The message's number, which travels in its data.
  var message: Int
  /// An answer went out.
  var answered: Bool
  /// The vendor had it before under the same key, and delivers it once.
  var isKnown: Bool
}

/// One message that the gateway accepted (202).
struct ChaosSend: Sendable {
  enum Aim: Hashable, Sendable {
    /// One token whose messages must arrive in the order of their numbers.
    case ordered(String)
    /// `provider token` of each.
    case list([String])
    /// Every registered device.
    case everyone
  }
  var number: Int
  var id: String
  var aim: Aim
  /// What the gateway's record says at the end.
  var targets = 0
  var outcomes: [String: Int] = [:]
  /// A direct send that a later one has passed.
  var overtaken = false
}

/// Holds what was accepted against what arrived: nothing lost, nothing out of order, doubles within their bound, sums exact.
/// All tokens are alive, so each delivery has to end as accepted.
struct ChaosLedger {
  private(set) var differences: [String] = []
  private(set) var deliveries = 0
  private(set) var lost = 0
  private(set) var outOfOrder = 0
  private(set) var overtaken = 0
  private(set) var duplicates = 0
  private(set) var unanswered = 0
  /// Duplicates that the crashes and the answers that were lost can explain.
  let bound: Int

  /// `everyone`: the registered devices, as `provider token`. `crashes`: how often a worker lost what it knew.
  init(sends: [ChaosSend], arrivals: [ChaosArrival], everyone: [String], crashes: Int) {
    unanswered = arrivals.count { !$0.answered }
    bound = crashes * ChaosStack.doublesPerCrash + unanswered
    var found: [Int: [String: Int]] = [:]
    var first: [String: [Int]] = [:]
    var known: Set<Int> = []
    for arrival in arrivals {
      let token = "\(arrival.provider) \(arrival.token)"
      let count = found[arrival.message]?[token] ?? 0
      found[arrival.message, default: [:]][token] = count + 1
      if count == 0 { first[token, default: []].append(arrival.message) } else if !arrival.isKnown { duplicates += 1 }
      known.insert(arrival.message)
    }
    var passed: Set<Int> = []
    var ordered: [String: Set<Int>] = [:]
    for send in sends {
      known.remove(send.number)
      if send.overtaken { passed.insert(send.number) }
      let expected: [String]
      switch send.aim {
      case .ordered(let token):
        expected = [token]
        ordered[token, default: []].insert(send.number)
      case .list(let tokens): expected = tokens
      case .everyone: expected = everyone
      }
      check(send, expected, found[send.number] ?? [:])
    }
    for number in known.sorted() { differ("message \(number) arrived and was never accepted") }
    for (token, numbers) in ordered { checkOrder(token, (first[token] ?? []).filter(numbers.contains), passed) }
    if duplicates > bound { differ("\(duplicates) duplicates, and at most \(bound) can be explained") }
  }

  private mutating func differ(_ text: String) { if differences.count < 100 { differences.append(text) } }

  private mutating func check(_ send: ChaosSend, _ expected: [String], _ arrived: [String: Int]) {
    deliveries += expected.count
    let missing = expected.filter { arrived[$0] == nil }
    if !missing.isEmpty {
      lost += missing.count
      differ(
        "message \(send.number) (\(send.id)) never reached \(missing.count) of \(expected.count), as \(missing[0])")
    }
    if arrived.count > expected.count - missing.count {
      differ("message \(send.number) reached \(arrived.count) tokens and was sent to \(expected.count)")
    }
    let sum = send.outcomes.values.reduce(0, +)
    if send.targets != expected.count || sum != expected.count {
      differ("message \(send.number): \(expected.count) targets, recorded \(send.targets), outcomes sum to \(sum)")
    }
    if send.outcomes["accepted"] != expected.count {
      differ("message \(send.number) (\(send.id)) ended as \(send.outcomes), and all its tokens live")
    }
  }

  /// First arrivals, without those that were passed on purpose.
  private mutating func checkOrder(_ token: String, _ numbers: [Int], _ passed: Set<Int>) {
    overtaken += numbers.count(where: passed.contains)
    var last = -1
    for number in numbers where !passed.contains(number) {
      if number < last {
        outOfOrder += 1
        differ("\(token): message \(number) arrived after \(last)")
      }
      last = max(last, number)
    }
  }
}
