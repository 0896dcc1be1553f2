import CommandFrame
import Configuration
import Domain
import GatewayClient
import Glibc
import JSON
import Loop

/// The registry from outside: many devices in and out.
enum DevicesCommand {
  static let command = Command(
    name: "devices", summary: "list, show, delete, import, export and verify devices, and decide on prunes",
    about: """
      list       print the devices that match all filters, including dead ones
      show       print one device
      timeline   list the messages to a device with their outcomes
      delete     delete a device. On a terminal it asks first
      import     (from FILE; - is standard input) register devices. FILE is NDJSON, with one device on each
                 line as in POST /v1/devices, or CSV, whose first line names the columns (give --csv if the file name
                 does not end in .csv). --map Email=user maps a column to a field, --map Notes=- ignores a column, --set
                 provider=fcm sets a field where its column is missing or its cell is empty. The fields are id,
                 provider, token, token_kind, environment, bundle_id, user, platform, language, tz, app_version, tags,
                 enabled, last_seen_at, registered_at and attributes.NAME. A line replaces the whole device: fields
                 that are not in the line, such as tags, attributes or user, are cleared. --keep-missing keeps them. A
                 disabled device stays disabled unless the line has `enabled: true`. Rows of dead devices, which some
                 exports contain, are skipped. A faulty line is reported with its number, and the other lines are
                 imported; --rejects writes the faulty lines to a file. --dry-run only says what would become of them. After an interruption, repeat the whole import
      export     print every device that is not dead, with its registration time, in the NDJSON format of import
      reindex    compare sets, index, aliases and users with the device records. --repair corrects the differences. It
                 opens the store of the configuration directly; the server may keep running. Exit code 1: differences
                 remain
      prunes     when providers call far more tokens dead than usual, Fanfare holds the prunes for your decision:
                 review shows them, apply carries them out, discard drops them, and undo reverses prunes that were
                 carried out. It needs a key with scope admin
      """,
    positionals: ["list|show|timeline|delete|import|export|reindex|prunes", "[ID|FILE|review|apply|discard|undo]"],
    words: [
      "list": [], "show": ["ID"], "timeline": ["ID"], "delete": ["ID"], "import": ["FILE"], "export": [], "reindex": [],
      "prunes": ["review|apply|discard|undo"],
    ],
    options: ServerCall.options(scopes: "devices (export for export and --csv)") + DeviceReindex.options
      + DevicePrunes.options + [
        Command.Option("--rejects", "FILE", "import: write the refused lines to this file"),
        Command.Option(
          "--keep-missing", "import: a device keeps the fields that its line does not have, such as tags or user"),
        Command.Option("--dry-run", "import: say what would become of each line, and register nothing"),
        Command.Option("--batch", "LINES", "import: lines in one request, 1–10000 (\(Client.usualBatch))"),
        Command.Option(
          "--map", "COLUMN=FIELD", repeats: true, "import: map a column of CSV to a field; - ignores it"),
        Command.Option(
          "--set", "FIELD=VALUE", repeats: true,
          "import: set a field of CSV to this value where its cell is empty or missing"),
        Command.Option("--csv", "import, export, list, timeline: CSV, for spreadsheets"),
        Command.Option("--limit", "COUNT", "list, timeline: number of rows, 1–100000 (50)"),
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
    case ("list", _): throw UsageProblem(text: "list takes no id; fanfare devices show ID shows one device")
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

  // MARK: Import

  private static func importDevices(_ path: String, _ arguments: Arguments) throws -> ExitCode {
    let batch = try arguments.integer("--batch", in: 1...10_000) ?? Client.usualBatch
    guard path == "-" || FileContent.exists(path) else { throw UsageProblem(text: "there is no file \(path)") }
    if let rejects = arguments.text("--rejects"), FileContent.isSameFile(path, rejects) {
      throw UsageProblem(text: "--rejects would overwrite \(path), which is imported: name another file")
    }
    let table = try DeviceImport.Table(path, arguments)
    return try ServerCall.run(arguments) { client, loop in
      let rejects = try arguments.text("--rejects").map { file throws(UsageProblem) in try RejectsFile(file) }
      var work = DeviceImport(
        path, batch: batch, rejects: rejects, table: table,
        keepsMissing: arguments.has("--keep-missing"), isTrial: arguments.has("--dry-run"))
      return try await work.run(client, loop, json: arguments.wantsJSON)
    }
  }
}
