import CommandFrame

/// What the server says of its HTTP interface, in the words of the command line.
enum CommandWords {
  static func of(_ text: String) -> String {
    text.replacing(/`map=([^`:]*):([^`]*)`/) { "`--map \($0.1)=\($0.2)`" }
      .replacing(/`set=([^`:]*):([^`]*)`/) { "`--set \($0.1)=\($0.2)`" }
      .replacing("`map` names", with: "`--map` names").replacing("`set` names", with: "`--set` names")
      .replacing("`map` must be COLUMN:FIELD", with: "`--map` must be COLUMN=FIELD")
      .replacing("`set` must be FIELD:VALUE", with: "`--set` must be FIELD=VALUE")
      .replacing(#/ \(over HTTP `[^`]*`\)/#, with: "")
      .replacing("`PUT /v1/test_lists/{name}`", with: "`fanfare test-lists set NAME`")
      .replacing(
        "POST …/replay with outcomes [\"cancelled\"] sends",
        with: "`fanfare messages replay ID --outcome cancelled` sends"
      )
      .replacing(
        "POST …/replay and outcomes [\"cancelled\"]", with: "`fanfare messages replay ID --outcome cancelled`"
      )
      .replacing(
        "POST …/replay with outcomes [\"cancelled\"]", with: "`fanfare messages replay ID --outcome cancelled`"
      )
      .replacing("(POST …/duplicate)", with: "(`fanfare drafts duplicate ID`)")
      .replacing("see its `counts`", with: "see `fanfare messages show ID`")
      .replacing(/`message\.([a-z_])/) { "`\($0.1)" }
      .replacing("`Idempotency-Key`", with: "`--idempotency-key`")
      .replacing("`?dry_run=true`", with: "`--dry-run`")
  }

  /// Of a command whose options may give the time: where they do, what is said of it is said of them.
  static func timed(by arguments: Arguments) -> @Sendable (String) -> String {
    let isTimed = arguments.has("--at") || arguments.has("--at-local")
    return { text in isTimed ? withTimes(text) : of(text) }
  }

  private static func withTimes(_ text: String) -> String {
    of(text).replacing("`send_at_local`", with: "`--at-local`").replacing("`send_at`", with: "`--at`")
  }

  /// Of a message that is to be moved: its times are options, and none of them can be left out.
  static func ofMove(_ text: String) -> String {
    withTimes(text).replacing(": leave it out to send at once", with: ": give a later time")
  }
}
