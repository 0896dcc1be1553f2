/// The clocks of zones, read when they are first asked for. Belongs to one loop.
package final class ZoneBook {
  private let read: (String) -> [UInt8]?
  private var known: [String: ZoneRules?] = [:]

  /// `read`: the file of a zone in the IANA database of the machine (`/usr/share/zoneinfo`).
  package init(read: @escaping (String) -> [UInt8]?) { self.read = read }

  /// Nil: the machine does not know this zone.
  package func rules(_ name: String) -> ZoneRules? {
    if let found = known[name] { return found }
    // Needs no file, and is what a machine without a database still knows.
    let rules =
      name == Self.utc ? .utc : ZoneName.exists(name) ? read(name).flatMap { ZoneRules(file: $0) } : nil
    known[name] = .some(rules)
    return rules
  }

  /// Known without a file.
  package static let utc = "Etc/UTC"

  /// False: this machine has no database of zones.
  package var isThere: Bool { rules("Europe/Berlin") != nil }
}
