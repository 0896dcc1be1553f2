import Configuration
import Processes

/// A gateway whose instructions in user space are counted (valgrind's `callgrind`): they depend neither on the host nor on
/// what else runs on it. It runs fifty times slower meanwhile. On the main thread.
final class InstructionCount {
  let gateway: GatewayProcess
  private let file: String
  private let log: String

  private static let valgrind = "/usr/bin/valgrind"
  private static let control = "/usr/bin/callgrind_control"
  private static let objcopy = "/usr/bin/objcopy"
  static var isAvailable: Bool { [valgrind, control, objcopy].allSatisfy(FileContent.exists) }

  /// Nothing is counted before `begin`.
  init(_ stage: BenchStage, arguments: [String]) throws {
    file = stage.folder.file("callgrind.out")
    log = stage.log
    // Valgrind cannot read what Swift writes for debuggers.
    let program = stage.folder.file("fanfare")
    try Self.run(Self.objcopy, ["--strip-debug", try GatewayProcess.program(), program], log: log)
    gateway = try GatewayProcess(
      config: stage.file, log: stage.log, core: BenchStage.workerCore, arguments: arguments,
      under: [Self.valgrind, "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=\(file)"],
      program: program)
  }

  func begin() throws { try switchCounting("on") }

  /// What was counted since `begin`; the gateway has ended then.
  func end() throws -> Double {
    try switchCounting("off")
    gateway.stop(grace: 60_000)
    let text = FileContent.read(file).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let sums = text.split(separator: "\n").filter { $0.hasPrefix("totals:") }
    guard let sum = sums.last?.split(separator: " ").last.flatMap({ Double($0) }), sum > 0 else {
      throw BenchFailure(reason: "valgrind counted nothing")
    }
    return sum
  }

  private func switchCounting(_ word: String) throws {
    try Self.run(Self.control, ["-i", word, String(gateway.id)], log: log)
  }

  private static func run(_ path: String, _ arguments: [String], log: String) throws {
    let tool = try ChildProcess(path, arguments, log: log)
    guard tool.wait(milliseconds: 60_000), tool.status == 0 else { throw BenchFailure(reason: "\(path) failed") }
  }
}
