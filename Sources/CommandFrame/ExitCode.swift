/// How a command ends; documented in docs/operations.md and never renumbered. Thrown by what has printed the reason already.
package enum ExitCode: Int32, Error {
  case success = 0
  /// What was asked for did not succeed; the reason was printed.
  case failure = 1
  /// The command line was not understood.
  case usage = 2
  /// The configuration has faults.
  case configuration = 3
  /// Redis, the server or a provider cannot be reached.
  case unreachable = 4
  /// The server refused the request.
  case refused = 5
  /// Ended by ctrl-C, as shells tell it.
  case interrupted = 130
  /// Nobody reads standard output any more, as shells tell it of SIGPIPE. Nothing is printed.
  case closedPipe = 141
}
