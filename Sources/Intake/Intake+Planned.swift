import Domain

extension Intake {
  /// Fields of the schema that later versions carry out: their shape is checked, and what asks for something is
  /// postponed.
  static func readPlanned(_ fields: Fields, _ findings: inout Findings) {
    func postpone(_ name: String, _ what: String, to version: LaterVersion, _ findings: inout Findings) {
      findings.postpone(fields.place.member(name), what, to: version)
    }

    if fields.integer("rate_per_second", in: 1...1_000_000, &findings) != nil {
      postpone("rate_per_second", "a pace", to: .campaigns, &findings)
    }
  }
}
