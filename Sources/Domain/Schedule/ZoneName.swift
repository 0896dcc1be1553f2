/// The names of IANA time zones. They are part of the program, so that every machine takes and refuses the same ones: a
/// server may carry no time zone database.
package enum ZoneName {
  /// The zone in which a start is shown: UTC, or, where each device's own clock decides, the zone that reaches the time
  /// first.
  package static func ofStart(isLocal: Bool) -> String { isLocal ? LocalTime.earliestZone : "UTC" }

  private static let all: Set<String> = Set(list.split { $0 == " " || $0 == "\n" }.map(String.init))

  /// Letter case counts, as on a machine with its files. Whether this machine has the zone is `ZoneBook`'s to say.
  package static func exists(_ name: String) -> Bool { all.contains(name) }

  /// The zone that was probably meant: another case, a missing area (`Vienna`), a space for `_`, a slip of the hand.
  package static func nearest(to name: String) -> String? {
    guard (1...longest).contains(name.utf8.count) else { return nil }
    let meant = plain(name)
    let city = "/" + meant
    // `America/Indiana/Indianapolis` has the older name `America/Indianapolis`: the shortest is the one people know.
    let same = spellings.filter { $0.plain == meant || $0.plain.hasSuffix(city) }
    if let found = same.min(by: { ($0.name.utf8.count, $0.name) < ($1.name.utf8.count, $1.name) }) { return found.name }
    let area = meant.utf8.contains(UInt8(ascii: "/")) ? meant.prefix { $0 != "/" } : ""
    let near = spellings.lazy.filter { abs($0.name.utf8.count - name.utf8.count) <= 3 && $0.plain.hasPrefix(area) }
    return Suggestion.nearest(to: name, among: near.map(\.name))
  }

  private static let longest = 40
  private static let spellings = all.sorted().map { (name: $0, plain: plain($0)) }

  private static func plain(_ name: String) -> String {
    String(name.lowercased().map { $0 == " " || $0 == "-" ? "_" : $0 })
  }
}
