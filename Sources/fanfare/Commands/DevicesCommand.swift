import Configuration
import Domain
import Glibc
import JSON
import Loop

/// The registry from outside: many devices in and out.
enum DevicesCommand {
  static let command = Command(
    name: "devices", summary: "import, export and check devices, decide on prunes",
    about: """
      To import reads devices from FILE (NDJSON: one device a line, as POST /v1/devices takes it; - is standard input) and
      registers them. A line that is wrong is told with its number and stops no other; --rejects keeps those lines for
      another try. An import that was interrupted may be repeated as a whole.
      To export prints every living device, one a line, as import takes them, with the time of its registration.
      To reindex compares sets, index, aliases and users with the records of devices, and with --repair mends them. It works
      on the store of the configuration directly, beside a running server. Exit code 1: something is wrong and not mended.
      To decide on prunes (with a key of scope admin): when far more tokens than usual are called dead, Fanfare puts the prunes aside and
      asks. prunes review shows them, prunes apply carries them out, prunes discard forgets them, prunes undo takes back what
      was carried out.
      """,
    positionals: ["import|export|reindex|prunes", "[FILE|review|apply|discard|undo]"],
    options: ServerCall.options(scopes: "devices") + DeviceReindex.options + DevicePrunes.options + [
      Command.Option("--rejects", "FILE", "import: write the lines that were refused into this file"),
      Command.Option("--batch", "LINES", "import: lines of one request, 1–10000 (\(defaultBatch))"),
      Command.Option("--csv", "export: a table for spreadsheets instead of NDJSON"),
      Command.json,
    ],
    examples: [
      "fanfare devices import devices.ndjson --rejects broken.ndjson", "fanfare devices export > devices.ndjson",
      "fanfare devices reindex --repair", "fanfare devices prunes review",
      "fanfare devices prunes apply --credential ios",
    ]
  ) { arguments in
    switch (arguments.positionals.first, arguments.positionals.dropFirst().first) {
    case ("import", let file?): return try importDevices(file, arguments)
    case ("import", nil): throw UsageProblem(text: "name the file: fanfare devices import FILE (- is standard input)")
    case ("export", nil): return try exportDevices(arguments)
    case ("reindex", nil): return try DeviceReindex.run(arguments)
    case ("prunes", let action): return try DevicePrunes.run(action, arguments)
    case ("export", _): throw UsageProblem(text: "export writes to standard output: fanfare devices export > FILE")
    default: throw UsageProblem(text: "say what to do: fanfare devices import, export, reindex or prunes")
    }
  }

  static let defaultBatch = 10_000

  // MARK: Export

  private static func exportDevices(_ arguments: Arguments) throws -> ExitCode {
    let type = arguments.has("--csv") ? "text/csv" : "application/x-ndjson"
    return try ServerCall.run(arguments) { client, _ in
      var isWhole = true
      let answer = try await client.export("/v1/devices/export", as: type) { isWhole = Terminal.pour($0) && isWhole }
      guard answer.isSuccess else { return ServerCall.refused(answer, json: arguments.wantsJSON) }
      guard isWhole else {
        Terminal.complain("standard output did not take all devices", "is the disk full?")
        return .failure
      }
      return .success
    }
  }

  // MARK: Import

  private static func importDevices(_ path: String, _ arguments: Arguments) throws -> ExitCode {
    let batch = try arguments.integer("--batch", in: 1...10_000) ?? defaultBatch
    guard path == "-" || FileContent.exists(path) else { throw UsageProblem(text: "there is no file \(path)") }
    return try ServerCall.run(arguments) { client, loop in
      var work = DeviceImport(path, batch: batch, rejects: arguments.text("--rejects"))
      return try await work.run(client, loop, json: arguments.wantsJSON)
    }
  }
}
