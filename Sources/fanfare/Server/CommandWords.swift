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
      .replacing("`Idempotency-Key`", with: "`--idempotency-key`")
      .replacing("`?dry_run=true`", with: "`--dry-run`")
  }
}
