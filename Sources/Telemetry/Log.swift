/// One line of logfmt on standard error per event: time, level, event, fields. Safe from any thread. Never give it a
/// whole token, key or payload: `Log.masked` shortens one.
package struct Log: Sendable {
  package enum Level: Int, Sendable, CaseIterable { case debug, info, warning, error }

  package init(minimum: Level = .info) {}
  package func callAsFunction(_ level: Level, _ event: String, _ fields: KeyValuePairs<String, String> = [:]) {}
  /// The first four characters and the length.
  package static func masked(_ secret: String) -> String { "\(secret.prefix(4))…(\(secret.utf8.count))" }
}
