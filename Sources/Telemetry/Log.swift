import Domain
import Glibc

/// One line of logfmt on standard error per event: time, level, event, fields. Safe from any thread. Never give it a
/// token, key or payload, or a part of one.
///
/// A line is one write of at most 4,096 bytes, so that lines from several threads never mix; what is longer is cut, with
/// `…` as the sign. It blocks as long as standard error does, and drops a line that standard error refuses.
package struct Log: Sendable {
  /// Ordered: a log writes its minimum level and those above it.
  package enum Level: Int, Sendable, CaseIterable, Comparable {
    case debug, info, warning, error

    /// `debug`, `info`, `warning` or `error`, as a setting names it.
    package init?(named name: String) {
      guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
      self = level
    }
    package var name: String { "\(self)" }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  package let minimum: Level
  private let descriptor: Int32

  /// `descriptor`: where the lines go; it stays the caller's.
  package init(minimum: Level = .info, descriptor: Int32 = STDERR_FILENO) {
    self.minimum = minimum
    self.descriptor = descriptor
  }

  /// `fields` are not even built when the level is below the minimum.
  package func callAsFunction(
    _ level: Level, _ event: String, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
  ) {
    guard level >= minimum else { return }
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let now = WallTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    var line = LogLine(time: now, level: level, event: event)
    for field in fields() { line.add(field.key, field.value) }
    line.end()
    while write(descriptor, line.bytes, line.bytes.count) < 0 && errno == EINTR {}
  }
}
