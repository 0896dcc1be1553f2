import Domain

extension Verdict {
  var isDead: Bool { if case .dead = self { true } else { false } }
}
