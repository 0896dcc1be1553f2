import Configuration
package import Domain

/// The time zones of this machine (Debian's package tzdata).
package enum ZoneFiles {
  /// With a slash at its end: a zone's name is appended as it is.
  package static let folder = "/usr/share/zoneinfo/"

  /// A new one for each loop. Names come from the list of known zones only.
  package static var book: ZoneBook { ZoneBook { FileContent.read(folder + $0) } }
}
