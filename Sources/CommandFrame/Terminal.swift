import CTerminal
package import Domain
import Glibc
import JSON
package import Synchronization

/// What people and programs read: results on standard output, everything else on standard error.
package enum Terminal {
  /// Standard output is a terminal, and no file or other program.
  package static let isShown = isatty(1) == 1
  /// A terminal belongs to this process and its neighbours: what is typed there as ctrl-C comes to them. False when it was
  /// closed.
  package static var isControlling: Bool {
    let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
    if terminal >= 0 { close(terminal) }
    return terminal >= 0
  }
  /// The program that speaks, as it is typed.
  static let program = Mutex("fanfare")
  /// With `--json`: faults are JSON as well.
  package static let speaksJSON = Atomic(false)

  /// A line on standard output: a result.
  package static func print(_ text: String) { write(text + "\n", to: 1) }
  /// A line on standard error: progress, remarks, faults. It never mixes with results in a pipe.
  package static func note(_ text: String) { write(text + "\n", to: 2) }

  /// `program: what is wrong` and what to do about it; with `--json` an object with the members of a problem document, on
  /// standard output. `code`: stable, for programs.
  package static func complain(_ problem: String, _ remedy: String? = nil, code: String = "failed") {
    guard !speaksJSON.load(ordering: .relaxed) else {
      var members = [JSONMember("code", .string(code)), JSONMember("detail", .string(problem))]
      members.set("remedy", remedy)
      return print(JSONValue.object(members))
    }
    note("\(program.withLock { $0 }): \(problem)" + (remedy.map { "\n  \($0)" } ?? ""))
  }

  /// JSON: over several lines and in colour on a terminal, on one line elsewhere.
  package static func print(_ value: JSONValue) {
    isShown ? print(PrettyJSON.text(value, paint: painted)) : print(value.encoded)
  }
  private static func painted(_ part: PrettyJSON.Part, _ text: String) -> String {
    switch part {
    case .key: Style.cyan.on(text)
    case .string: Style.green.on(text)
    case .literal: Style.yellow.on(text)
    }
  }
  /// JSON as it came from a server; what is none is printed as it is.
  package static func print(json bytes: [UInt8]) {
    if isShown, let value = try? JSON.parse(bytes) { print(value) } else { print(bytes) }
  }

  /// A line of bytes on standard output, with the newline added here.
  package static func print(_ bytes: [UInt8]) { write(bytes + [0x0a], to: 1) }

  /// `descriptor`: 1 or 2. Adds no newline, blocks until all is written, and ignores that nobody reads any more.
  package static func write(_ text: String, to descriptor: Int32) { write(Array(text.utf8), to: descriptor) }
  /// Data for standard output as it is. Success: it has taken all of it; `closedPipe`: nobody reads any more, as behind
  /// `| head`; else `failure`.
  package static func pour(_ bytes: [UInt8]) -> ExitCode {
    switch write(bytes, to: 1) {
    case 0: .success
    case EPIPE: .closedPipe
    default: .failure
    }
  }
  /// Zero, or the system's number of the fault.
  @discardableResult
  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count < 0 ? errno : EIO }
      rest = rest.dropFirst(count)
    }
    return 0
  }
}

/// A line that is drawn over and over on a terminal; elsewhere only its last state is printed.
package struct ProgressBar {
  private let title: String
  /// A window can be made wider or narrower meanwhile.
  private var columns: Int { Int(fanfare_columns(2)) }
  private var drawn = ""
  private static let width = 30
  private static let leastWidth = 10

  /// `title`: before the bar, padded to 12 characters. Nothing is drawn yet.
  package init(_ title: String) { self.title = title }

  /// `note`: behind the figures.
  package mutating func draw(_ done: Int, of total: Int, _ note: String = "") {
    let columns = columns
    guard columns > Self.fewest else { return }
    show(Self.line(title, done, of: total, note, columns: columns))
  }

  /// A line of the caller's own; cut where it is too long.
  package mutating func draw(_ text: String) {
    guard columns > Self.fewest else { return }
    show(String(text.prefix(columns - 1)))
  }

  private mutating func show(_ line: String) {
    guard line != drawn else { return }
    drawn = line
    Terminal.write("\r\u{1b}[K" + line, to: 2)
  }

  /// What the note needs is taken from the bar; what is too long all the same is cut.
  package static func line(_ title: String, _ done: Int, of total: Int, _ note: String, columns: Int) -> String {
    let head = padded(title, 12)
    let text = "\(grouped(done))/\(grouped(total))" + (note.isEmpty ? "" : "  \(note)")
    let width = min(max(columns - 3 - head.count - text.count, leastWidth), width)
    let filled = total == 0 ? width : min(width, done * width / total)
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    return String("\(head) \(bar) \(text)".prefix(columns - 1))
  }

  /// Standard error is a terminal that is wide enough.
  package static var isDrawn: Bool { Int(fanfare_columns(2)) > fewest }
  private static let fewest = 40

  /// Takes the line away, for others to be printed.
  package mutating func clear() {
    guard !drawn.isEmpty else { return }
    drawn = ""
    Terminal.write("\r\u{1b}[K", to: 2)
  }

  /// The last state, which stays.
  package func end(_ text: String) {
    Terminal.write((columns > Self.fewest ? "\r\u{1b}[K" : "") + "\(padded(title, 12)) \(text)\n", to: 2)
  }
}
