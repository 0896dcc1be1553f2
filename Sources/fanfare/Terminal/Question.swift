import CommandFrame
import Glibc
import Processes

/// Asks whoever sits at the terminal.
enum Question {
  /// Somebody can be asked: input and errors are a terminal.
  static let canBeAsked = isatty(0) == 1 && isatty(2) == 1

  /// Before what cannot be undone. `mark`: the action that it is for, as its help begins; `more`: how it ends.
  static func option(_ mark: String, _ more: String = "") -> Command.Option {
    Command.Option("--yes", "\(mark)do not ask first\(more)")
  }

  /// On a terminal, unless `--yes` or `--json` is given; elsewhere a program has decided.
  static func isAsked(_ arguments: Arguments) -> Bool { canBeAsked && !arguments.has("--yes") && !arguments.wantsJSON }

  /// True: go on. Asks where somebody is to be asked.
  static func isConfirmed(_ question: String, _ arguments: Arguments) -> Bool {
    guard isAsked(arguments) else { return true }
    guard !yes("\(question) It cannot be undone.", isUsual: false) else { return true }
    Terminal.note("nothing was changed")
    return false
  }

  /// True for an answer that begins with y. Without an answer, `isUsual`; false at the end of the input.
  static func yes(_ question: String, isUsual: Bool = true) -> Bool {
    Terminal.write("\(question) [\(isUsual ? "Y/n" : "y/N")] ", to: 2)
    guard let answer = StopSignals.unblocked({ readLine() }) else {
      Terminal.note("")
      return false
    }
    let word = answer.lowercased().filter { $0 != " " }
    return word.isEmpty ? isUsual : word.hasPrefix("y")
  }

  /// A line; nil at the end of the input.
  static func line(_ question: String) -> String? {
    if canBeAsked { Terminal.write(question + " ", to: 2) }
    return readLine()
  }

  /// A line that is not shown while it is typed.
  static func secret(_ question: String) -> String? {
    guard canBeAsked else { return readLine() }
    var before = termios()
    guard tcgetattr(0, &before) == 0 else { return line(question) }
    var hidden = before
    hidden.c_lflag &= ~tcflag_t(ECHO)
    tcsetattr(0, TCSAFLUSH, &hidden)
    defer {
      tcsetattr(0, TCSAFLUSH, &before)
      Terminal.note("")
    }
    return line(question)
  }
}
