package import Foundation
import Synchronization

/// A program run by a test: its output is kept, its end is awaited, and it never outlives the test.
package final class ChildProcess: @unchecked Sendable {
  /// The folder of the test bundle, and of all that was built with it.
  package static var testProducts: URL {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
  }

  package let id: Int32
  /// As `waitpid` gives it; nil: it runs.
  private let end = Mutex<Int32?>(nil)
  private let output = Output()

  package init(_ executable: URL, _ arguments: [String], environment: [String: String] = [:], directory: URL? = nil)
    throws
  {
    var ends: [Int32] = [0, 0]
    // `spawn` leaves no program more than its own descriptors.
    guard pipe(&ends) == 0 else { throw ChildFailure(reason: "no pipe: \(String(cString: strerror(errno)))") }
    let (reading, writing) = (ends[0], ends[1])
    let started = spawn(
      executable.path, arguments, environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
      directory: directory?.path, output: writing)
    let fault = errno
    close(writing)
    guard let started else {
      close(reading)
      throw ChildFailure(reason: "\(executable.path): \(String(cString: strerror(fault)))")
    }
    id = started
    output.read(from: reading)
  }

  package var isRunning: Bool { status == nil }
  private var status: Int32? {
    end.withLock { known in
      var status: Int32 = 0
      guard known == nil else { return known }
      switch waitpid(id, &status, WNOHANG) {
      case 0: break
      case id: known = status
      // Somebody else was told how it ended.
      default: known = 0x7f00
      }
      return known
    }
  }
  package var text: String { output.text }

  /// The program's own exit code, or 128 and the signal that ended it. All that it wrote has been read by then, unless a child of
  /// its own keeps its output open.
  package func waitForExit() async -> Int32 {
    while isRunning { try? await Task.sleep(for: .milliseconds(20)) }
    let deadline = ContinuousClock.now + .seconds(2)
    while !output.isWhole, ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(20)) }
    guard let status else { preconditionFailure("it has ended") }
    let signal = status & 0x7f
    return signal == 0 ? status >> 8 & 0xff : 128 + signal
  }

  /// The first line of output that `matches`; throws when the program ends without one, or after `seconds`.
  package func line(within seconds: Double = 60, where matches: @escaping (Substring) -> Bool) async throws -> String {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while true {
      // What a program wrote before its end may be read after it.
      let running = isRunning || !output.isWhole
      let soFar = text
      let complete =
        soFar.hasSuffix("\n") || !running ? soFar[...] : soFar[..<(soFar.lastIndex(of: "\n") ?? soFar.startIndex)]
      if let line = complete.split(separator: "\n").first(where: matches) { return String(line) }
      guard running else { throw ChildFailure(reason: "the program ended:\n\(soFar)") }
      guard ContinuousClock.now < deadline else { throw ChildFailure(reason: "no such line in time:\n\(soFar)") }
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// No effect on one that has ended.
  package func signal(_ signal: Int32) { if isRunning { kill(id, signal) } }

  /// Sends SIGKILL and waits for the end.
  package func destroy() async {
    signal(SIGKILL)
    _ = await waitForExit()
  }

  deinit {
    guard isRunning else { return }
    kill(id, SIGKILL)
    var status: Int32 = 0
    waitpid(id, &status, 0)
  }
}

package struct ChildFailure: Error, CustomStringConvertible {
  package let reason: String
  package init(reason: String) { self.reason = reason }
  package var description: String { reason }
}

/// What a program wrote. A thread reads it until the program and its children have closed their ends.
private final class Output: Sendable {
  private let state = Mutex((bytes: [UInt8](), isWhole: false))

  var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }
  /// The end of it was read.
  var isWhole: Bool { state.withLock(\.isWhole) }

  /// Closes the descriptor at the end.
  func read(from descriptor: Int32) {
    Thread.detachNewThread { [self] in
      var piece = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = Foundation.read(descriptor, &piece, piece.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { break }
        state.withLock { $0.bytes += piece[..<count] }
      }
      close(descriptor)
      state.withLock { $0.isWhole = true }
    }
  }
}
