import Foundation
import Support

/// A program whose attempts to reach anything but this machine are on record (strace): connections to other addresses, and names
/// that the system's resolver was asked for. Its children are watched too.
struct NetworkWatch {
  let process: ChildProcess
  private let record: URL

  private static let tracer = "/usr/bin/strace"

  /// Without strace nothing can be told: that is a failure, not a pass.
  init(_ program: URL, _ arguments: [String], environment: [String: String] = [:], record: URL) throws {
    guard FileManager.default.isExecutableFile(atPath: Self.tracer) else {
      throw ChildFailure(reason: "strace is missing: Config/install-packages installs it")
    }
    self.record = record
    // With -D the program itself is our child and takes our signals.
    process = try ChildProcess(
      URL(fileURLWithPath: Self.tracer),
      [
        "-D", "-f", "--seccomp-bpf", "-qq", "-s", "256", "-e", "trace=connect,openat,sendmmsg", "-o", record.path,
        program.path,
      ] + arguments, environment: environment)
  }

  /// What it did that could lead away from this machine, a line each; nothing is told of a program that was not watched. Ask when it
  /// has ended.
  func strangers() throws -> [String] {
    let lines = try String(contentsOf: record, encoding: .utf8).split(separator: "\n").map(String.init)
    guard lines.contains(where: { $0.contains("openat(") }) else {
      throw ChildFailure(reason: "strace recorded nothing: may this account trace its own processes?")
    }
    return lines.filter(Self.leadsAway)
  }

  private static func leadsAway(_ line: String) -> Bool {
    // The C library reads it when it is asked for a name that is no address, before it asks anybody.
    if line.contains("openat(") { return line.contains("\"/etc/resolv.conf\"") }
    if line.contains("sendmmsg(") { return true }
    guard line.contains("connect(") else { return false }
    if line.contains("AF_UNIX") { return line.contains("nscd") || line.contains("systemd/resolve") }
    guard line.contains("AF_INET") else { return false }
    let isHere =
      line.contains("inet_addr(\"127.") || line.contains("\"::1\"") || line.contains("\"::ffff:127.")
    return !isHere || line.contains("htons(53)")
  }
}
