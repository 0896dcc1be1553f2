/// The names of IANA time zones. They are part of the program, so that every machine takes and refuses the same ones: a
/// server may carry no time zone database.
package enum ZoneName {
  /// The zone in which a start is shown: UTC, or, where each device's own clock decides, the zone that reaches the time
  /// first.
  package static func ofStart(isLocal: Bool) -> String { isLocal ? LocalTime.earliestZone : "UTC" }

  private static let all: Set<String> = Set(list.split { $0 == " " || $0 == "\n" }.map(String.init))

  /// Letter case counts, as on a machine with its files. Whether this machine has the zone is `ZoneBook`'s to say.
  package static func exists(_ name: String) -> Bool { all.contains(name) }

  /// The zone that was probably meant: another case, a missing area (`Vienna`), a space for `_`, the city's name in another
  /// language (`Europe/Wien`), a slip of the hand in the city. Nil where that would be a guess.
  package static func nearest(to name: String) -> String? {
    guard (1...longest).contains(name.utf8.count) else { return nil }
    let meant = plain(name)
    // `GMT+1` is an hour ahead for all but the zone `Etc/GMT+1`, which is an hour behind.
    guard !["gmt+", "gmt-", "utc+", "utc-"].contains(where: meant.hasPrefix) else { return nil }
    let city = "/" + meant
    let same = spellings.filter { $0.plain == meant || $0.plain.hasSuffix(city) }
    if let found = shortest(same.map(\.name)) { return found }
    let mark = meant.lastIndex(of: "/").map { meant.index(after: $0) } ?? meant.startIndex
    let (area, word) = (meant[..<mark], String(meant[mark...]))
    if let known = aliases[word] { return known }
    // Cities are compared, as all of an area have its letters in common. Of three letters one makes another word.
    guard word.utf8.count > 3 else { return nil }
    let hasArea = !area.isEmpty && spellings.contains { $0.plain.hasPrefix(area) }
    let cities = spellings.lazy.filter { !hasArea || $0.plain.hasPrefix(area) }.map { spelling in
      let start = spelling.plain.lastIndex(of: "/").map { spelling.plain.index(after: $0) }
      return (name: spelling.name, city: String(spelling.plain[(start ?? spelling.plain.startIndex)...]))
    }
    guard let near = Suggestion.nearest(to: word, among: cities.map(\.city)) else { return nil }
    return shortest(cities.filter { $0.city == near }.map(\.name))
  }

  /// `America/Indiana/Indianapolis` has the older name `America/Indianapolis`: the shortest is the one people know.
  private static func shortest(_ names: [String]) -> String? {
    names.min { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
  }

  private static let longest = 40
  private static let spellings = all.sorted().map { (name: $0, plain: plain($0)) }

  private static func plain(_ name: String) -> String {
    String(name.lowercased().map { $0 == " " || $0 == "-" ? "_" : $0 })
  }
}
