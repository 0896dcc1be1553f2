import JSON

enum VersionCommand {
  static let command = Command(
    name: "version", summary: "print the version", about: "Prints the version of this binary.",
    options: [Command.json]
  ) { arguments in
    if arguments.wantsJSON {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("version", Tool.version)
      writer.endObject()
      Terminal.print(json: writer.bytes)
    } else {
      Terminal.print("fanfare \(Tool.version)")
    }
    return .success
  }
}
