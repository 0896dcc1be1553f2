import CommandFrame
import Configuration
import Domain
import Gateway
import Glibc
import JSON

/// The configuration that a command is about.
extension Setup {
  /// The file named by `--config`, by FANFARE_CONFIG, or `fanfare.json5` here.
  static func file(_ arguments: Arguments) -> String {
    arguments.text(Command.configuration.name) ?? getenv("FANFARE_CONFIG").map { String(cString: $0) }
      ?? "fanfare.json5"
  }

  /// Prints the faults, and ends with their exit code.
  static func load(_ arguments: Arguments) throws(ExitCode) -> Setup {
    do {
      return try Setup(file: file(arguments))
    } catch {
      report(error, json: arguments.wantsJSON)
      throw .configuration
    }
  }

  static func report(_ faults: ConfigurationFaults, json: Bool) {
    guard json else {
      Terminal.note("\(faults.file): \(counted(faults.faults.count, "fault"))")
      for fault in faults.faults { Terminal.note("  \(fault.text)") }
      return
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("file", faults.file)
    writer.objects("faults", faults.faults) { writer, fault in
      writer.member("pointer", fault.pointer)
      writer.member("line", fault.line)
      writer.member("column", fault.column)
      writer.member("problem", fault.problem)
      writer.member("fix", fault.fix)
    }
    writer.endObject()
    Terminal.print(writer.bytes)
  }
}

extension Command {
  static let configuration = Option(
    "--config", "FILE", "the configuration (default: FANFARE_CONFIG, then fanfare.json5)")
}

extension StoreAccess {
  /// As `Setup.load`, for faults that leave open which store it is.
  static func load(_ arguments: Arguments) throws(ExitCode) -> StoreAccess {
    do {
      return try StoreAccess(file: Setup.file(arguments))
    } catch {
      Setup.report(error, json: arguments.wantsJSON)
      throw .configuration
    }
  }
}
