import Configuration
import Domain
import Glibc
import JSON
import Loop

/// The registry from outside: many devices in and out.
enum DevicesCommand {
  static let command = Command(
    name: "devices", summary: "list, show, delete, import, export and check devices, decide on prunes",
    about: """
      list prints devices, those that all filters take, dead ones too; show tells all of one; timeline lists the messages that were
      aimed at it, and what became of them; delete removes it.
      To import reads devices from FILE (- is standard input) and registers them: NDJSON, one device a line as POST /v1/devices
      takes it, or a table (CSV; --csv where the file's name does not say so), whose first line names the columns. --map Email=user
      says which field a column is, --map Notes=- leaves one out, --set provider=fcm fills a field for all. A line that is wrong is told with its number and stops no other; --rejects keeps those lines for
      another try. An import that was interrupted may be repeated as a whole.
      To export prints every living device, one a line, as import takes them, with the time of its registration.
      To reindex compares sets, index, aliases and users with the records of devices, and with --repair mends them. It works
      on the store of the configuration directly, beside a running server. Exit code 1: something is wrong and not mended.
      To decide on prunes (with a key of scope admin): when far more tokens than usual are called dead, Fanfare puts the prunes aside and
      asks. prunes review shows them, prunes apply carries them out, prunes discard forgets them, prunes undo takes back what
      was carried out.
      """,
    positionals: ["list|show|timeline|delete|import|export|reindex|prunes", "[ID|FILE|review|apply|discard|undo]"],
    options: ServerCall.options(scopes: "devices") + DeviceReindex.options + DevicePrunes.options + [
      Command.Option("--rejects", "FILE", "import: write the lines that were refused into this file"),
      Command.Option("--batch", "LINES", "import: lines of one request, 1–10000 (\(defaultBatch))"),
      Command.Option(
        "--map", "COLUMN=FIELD", repeats: true, "import of a table: the field that a column is; - is none"),
      Command.Option(
        "--set", "FIELD=VALUE", repeats: true, "import of a table: a field that it does not have, the same for all"),
      Command.Option("--csv", "import, export, lists: a table for spreadsheets"),
      Command.Option("--limit", "COUNT", "list, timeline: so many, 1–100000 (50)"),
      Command.json,
    ] + DeviceView.options,
    examples: [
      "fanfare devices import devices.ndjson --rejects broken.ndjson", "fanfare devices export > devices.ndjson",
      "fanfare devices list --user 4711", "fanfare devices import customers.csv --map Email=user --set provider=fcm",
      "fanfare devices reindex --repair", "fanfare devices prunes review",
      "fanfare devices prunes apply --credential ios",
    ]
  ) { arguments in
    switch (arguments.positionals.first, arguments.positionals.dropFirst().first) {
    case ("import", let file?): return try importDevices(file, arguments)
    case ("import", nil): throw UsageProblem(text: "name the file: fanfare devices import FILE (- is standard input)")
    case ("list", nil): return try DeviceView.run("list", nil, arguments)
    case ("list", _): throw UsageProblem(text: "list takes no id: fanfare devices show ID tells of one")
    case ("show", let id), ("timeline", let id), ("delete", let id):
      return try DeviceView.run(arguments.positionals[0], id, arguments)
    case ("export", nil):
      let type = arguments.has("--csv") ? "text/csv" : "application/x-ndjson"
      return try ListCall.export("/v1/devices/export", arguments, as: type, of: "devices")
    case ("reindex", nil): return try DeviceReindex.run(arguments)
    case ("prunes", let action): return try DevicePrunes.run(action, arguments)
    case ("export", _): throw UsageProblem(text: "export writes to standard output: fanfare devices export > FILE")
    default:
      throw UsageProblem(
        text: "say what to do: fanfare devices list, show, timeline, delete, import, export, reindex or prunes")
    }
  }

  static let defaultBatch = 10_000

  // MARK: Import

  private static func importDevices(_ path: String, _ arguments: Arguments) throws -> ExitCode {
    let batch = try arguments.integer("--batch", in: 1...10_000) ?? defaultBatch
    guard path == "-" || FileContent.exists(path) else { throw UsageProblem(text: "there is no file \(path)") }
    let table = try DeviceImport.Table(path, arguments)
    return try ServerCall.run(arguments) { client, loop in
      var work = DeviceImport(path, batch: batch, rejects: arguments.text("--rejects"), table: table)
      return try await work.run(client, loop, json: arguments.wantsJSON)
    }
  }
}
