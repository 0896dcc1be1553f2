import CommandFrame
import JSON

enum VersionCommand {
  static let command = Command(
    name: "version", summary: "print the version", about: "Prints the version of this binary.",
    options: [Command.json]
  ) { arguments in
    if arguments.wantsJSON {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("version", Program.version)
      writer.endObject()
      Terminal.print(json: writer.bytes)
    } else {
      Terminal.print("fanfare \(Program.version)")
    }
    return .success
  }
}
