import Domain
import Loop

/// Attacks from other addresses of this machine. On one loop.
final class Siege {
  struct Result: Sendable {
    var mostOpen = 0
    var answers = 0
    var closed = 0
  }

  private let loop: EventLoop
  private let scale: Double
  private var slots: [SiegeAttack: [SiegeSlot]] = [:]
  private var isOver = false
  private var keysSent = 0
  private var keysBegan = Instant(nanoseconds: 0)
  private var turns = 0
  private var result = Result()

  /// Milliseconds.
  private static let turn: Int64 = 10
  /// Connections that begin in a turn.
  private static let openedPerTurn = 200
  /// 127.0.0.2: the machine itself as a stranger.
  private static let firstSource: UInt32 = 0x7f00_0002

  /// `sources`: so many addresses take part in each attack, the first of them 127.0.0.2.
  init(loop: EventLoop, port: Int, attacks: [SiegeAttack], sources: Int, scale: Double) {
    self.loop = loop
    self.scale = scale
    // Each attack has its own: the connections of one must not use up those of another.
    for (place, attack) in attacks.enumerated() {
      let first = Self.firstSource + UInt32(place * sources)
      slots[attack] = (0..<attack.slots(scale: scale)).map {
        SiegeSlot(
          loop: loop, port: port, source: first + UInt32($0 % sources), attack: attack, number: $0)
      }
    }
  }

  /// Goes on until `end`.
  func begin() {
    open(slots.keys.sorted { $0.rawValue < $1.rawValue }.flatMap { slots[$0] ?? [] }[...])
    keysBegan = loop.now
    tick()
  }

  func end() -> Result {
    isOver = true
    look()
    for slot in slots.values.joined() {
      result.answers += slot.answers
      result.closed += slot.closed
      slot.end()
    }
    slots = [:]
    return result
  }

  private func open(_ waiting: ArraySlice<SiegeSlot>) {
    guard !isOver, !waiting.isEmpty else { return }
    for slot in waiting.prefix(Self.openedPerTurn) { slot.begin() }
    loop.after(milliseconds: Self.turn) { [self] in open(waiting.dropFirst(Self.openedPerTurn)) }
  }

  private func tick() {
    guard !isOver else { return }
    turns += 1
    if turns % 100 == 0 {
      for slot in slots[.slow] ?? [] { slot.trickle() }
      look()
    }
    if let guessers = slots[.keys], !guessers.isEmpty {
      let due = Int(Double(loop.now - keysBegan) * SiegeAttack.keysPerSecond * scale / 1_000)
      while keysSent < due {
        guessers[keysSent % guessers.count].send(SiegeAttack.wrongKey(keysSent))
        keysSent += 1
      }
    }
    loop.after(milliseconds: Self.turn) { [self] in tick() }
  }

  private func look() { result.mostOpen = max(result.mostOpen, slots.values.joined().count { $0.isOpen }) }
}
