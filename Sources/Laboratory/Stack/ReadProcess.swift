import CLaboratory
import Glibc
import Processes

/// A child whose standard output is read line by line. Start it on the main thread.
final class ReadProcess: @unchecked Sendable {
  let child: ChildProcess
  private let output: Int32
  private var gathered: [UInt8] = []

  /// `log`: where its standard error goes. `core` >= 0 pins it.
  init(
    _ path: String, _ arguments: [String], log: String, core: Int = -1
  ) throws(ChildProcess.StartFailure) {
    var ends: [Int32] = [-1, -1]
    fanfare_pipe(&ends)
    defer { close(ends[1]) }
    do {
      child = try ChildProcess(path, arguments, log: log, output: ends[1], core: core)
    } catch {
      close(ends[0])
      throw error
    }
    output = ends[0]
  }

  deinit {
    child.stop()
    close(output)
  }

  /// Waits for a line that `accept` takes; nil when the child ends, or after `timeout` milliseconds.
  func line(timeout: Int, where accept: (String) -> Bool) -> String? {
    let deadline = Clock.milliseconds + timeout
    while true {
      while let end = gathered.firstIndex(of: 0x0a) {
        let line = String(decoding: gathered[..<end], as: UTF8.self)
        gathered.removeFirst(end + 1)
        if accept(line) { return line }
      }
      let left = deadline - Clock.milliseconds
      var wanted = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard left > 0, poll(&wanted, 1, Int32(left)) > 0 else { return nil }
      var chunk = [UInt8](repeating: 0, count: 4_096)
      let count = chunk.withUnsafeMutableBytes { read(output, $0.baseAddress, $0.count) }
      guard count > 0 else { return nil }
      gathered += chunk[..<count]
    }
  }
}
