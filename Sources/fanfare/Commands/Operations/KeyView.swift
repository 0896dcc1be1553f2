import API
import CommandFrame
import Domain
import JSON
import Store

/// Keys for people, and with `--json` as `/v1/keys` writes them.
struct KeyView {
  let json: Bool
  let isTable: Bool

  /// The secret alone goes to standard output, so that a script can keep it.
  func made(_ key: APIKey, _ secret: String) {
    guard !json else {
      return print { writer in
        writer.member("secret", secret)
        key.write(to: &writer)
      }
    }
    Terminal.print(secret)
    Terminal.note("The secret of key \(key.id) is shown only this once.")
    for former in key.secrets.dropFirst() {
      if let end = former.endsAt { Terminal.note("The former secret stays valid until \(end.rfc3339).") }
    }
  }

  func list(_ keys: [APIKey]) -> ExitCode {
    if isTable {
      let lines = [CSV.line(APIKey.columns)] + keys.map { CSV.line($0.row) }
      let code = Terminal.pour(lines.reduce([], +))
      if code == .failure { Terminal.complain("cannot write all keys to standard output", "is the disk full?") }
      return code
    }
    guard !json else {
      print { writer in
        writer.objects("items", keys) { $1.write(to: &$0) }
        writer.key("next_cursor")
        writer.null()
      }
      return .success
    }
    guard !keys.isEmpty else {
      Terminal.note("there are no keys; create one with fanfare keys create")
      return .success
    }
    var table = Table(
      head: ["id", "scopes", "name", "created at", "last used at", "expires at", "addresses"],
      spare: ["created at", "addresses"])
    for key in keys {
      table.row(
        key.id, key.sortedScopes.joined(separator: ","), key.name, key.createdAt.rfc3339,
        key.lastUsedAt?.rfc3339 ?? "", key.expiresAt?.rfc3339 ?? "",
        key.addresses.map(\.description).joined(separator: " "))
    }
    table.show()
    return .success
  }

  func show(_ key: APIKey) {
    guard !json else { return print { key.write(to: &$0) } }
    Terminal.print(key.id)
    var table = Table()
    table.row("name", key.name)
    table.row("scopes", key.sortedScopes.joined(separator: ","))
    table.row(
      "valid from", key.addresses.isEmpty ? "any address" : key.addresses.map(\.description).joined(separator: " "))
    table.row("created at", key.createdAt.rfc3339)
    table.row("expires at", key.expiresAt?.rfc3339 ?? "never")
    table.row("last used at", key.lastUsedAt?.rfc3339 ?? "never")
    for secret in key.secrets {
      table.row("secret of", secret.createdAt.rfc3339 + (secret.endsAt.map { ", until \($0.rfc3339)" } ?? ""))
    }
    table.show()
  }

  func revoked(_ id: String) {
    if !json { Terminal.print("revoked \(id)") }
  }

  private func print(_ write: (inout JSONWriter) -> Void) {
    var writer = JSONWriter()
    writer.beginObject()
    write(&writer)
    writer.endObject()
    Terminal.print(json: writer.bytes)
  }
}
