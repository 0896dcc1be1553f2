import Domain
import HTTPServer
import Intake
package import JSON
package import Store
import Telemetry

/// `/v1/keys`: the API keys of the app. A key gives nothing that it does not have itself.
struct KeyCalls {
  let store: Store
  let log: Log

  func listKeys(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let keys = try await all(call)
    return try await Listing.answer(all: keys, call, columns: APIKey.columns, row: \.row) { key, writer in
      writer.beginObject()
      key.write(to: &writer)
      writer.endObject()
    }
  }

  func readKey(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let id = call.parameters.first
    guard let key = try await all(call).first(where: { $0.id == id }) else { throw Problem.noKey }
    return Answer.json { key.write(to: &$0) }
  }

  func createKey(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let reading = try newKey(of: call)
    let new = NewKey(
      name: reading.name ?? "", scopes: Set((reading.scopes ?? []).compactMap { Scope(rawValue: $0) }),
      expiresAt: reading.expiresAt ?? nil, addresses: reading.addresses ?? [])
    do throws(KeyringFault) {
      let made = try await store.keyring.create(new, app: call.app, by: call.key?.id, now: call.now)
      tell("key_created", made.key.id, call)
      return Answer.json(201, headers: [Header("location", "/v1/keys/\(made.key.id)")]) { writer in
        writer.member("secret", made.secret)
        made.key.write(to: &writer)
      }
    } catch {
      throw Problem(error)
    }
  }

  func changeKey(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let reading = try edit(of: call)
    let edit = KeyEdit(
      name: reading.name, scopes: reading.scopes.map { Set($0.compactMap { Scope(rawValue: $0) }) },
      expiresAt: reading.expiresAt, addresses: reading.addresses)
    let id = call.parameters.first ?? ""
    do throws(KeyringFault) {
      let key = try await store.keyring.change(id, of: call.app, by: call.key?.id, edit, now: call.now)
      tell("key_changed", id, call)
      return Answer.json { key.write(to: &$0) }
    } catch {
      throw Problem(error)
    }
  }

  func rotateKey(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let keep = try rotation(of: call)
    let id = call.parameters.first ?? ""
    do throws(KeyringFault) {
      let rotated = try await store.keyring.rotate(
        id, of: call.app, by: call.key?.id, keep: keep.map { $0 * 1_000 } ?? APIKey.usualKeep, now: call.now)
      tell("key_rotated", id, call)
      return Answer.json { writer in
        writer.member("secret", rotated.secret)
        rotated.key.write(to: &writer)
      }
    } catch {
      throw Problem(error)
    }
  }

  func revokeKey(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let id = call.parameters.first ?? ""
    do throws(KeyringFault) {
      try await store.keyring.revoke(id, of: call.app, by: call.key?.id, now: call.now)
    } catch {
      throw Problem(error)
    }
    tell("key_revoked", id, call)
    return HTTPServerResponse(status: 204)
  }

  private func tell(_ word: String, _ id: String, _ call: Call) {
    log(.info, word, ["app": call.app.rawValue, "key": id, "by": call.key?.id ?? "", "peer": call.request.peer])
  }

  private func all(_ call: Call) async throws(Problem) -> [APIKey] {
    do throws(StoreError) {
      return try await store.keyring.keys(app: call.app)
    } catch {
      throw Problem(error)
    }
  }

  func newKey(of call: Call) throws(Problem) -> KeyReading {
    try read(call) { reader, document throws(Refusal) in try reader.newKey(from: document) }
  }

  func edit(of call: Call) throws(Problem) -> KeyReading {
    try read(call) { reader, document throws(Refusal) in try reader.edit(from: document) }
  }

  /// Seconds that the former secret stays valid; nil: the body says nothing of it.
  func rotation(of call: Call) throws(Problem) -> Int64? {
    guard !call.request.body.isEmpty else { return nil }
    return try call.read(.invalidKey) { document throws(Refusal) in try KeyReader.rotation(from: document) }
  }

  private func read(
    _ call: Call, _ read: (KeyReader, JSONValue) throws(Refusal) -> KeyReading
  ) throws(Problem) -> KeyReading {
    try call.read(.invalidKey) { document throws(Refusal) in
      try read(KeyReader(scopes: Scope.allCases.map(\.rawValue), now: call.now), document)
    }
  }
}

extension APIKey {
  /// The members of an object; no secret is among them.
  package func write(to writer: inout JSONWriter) {
    writer.member("id", id)
    writer.member("app", app.rawValue)
    writer.member("name", name)
    writer.key("scopes")
    writer.beginArray()
    for scope in sortedScopes { writer.string(scope) }
    writer.endArray()
    writer.key("addresses")
    writer.beginArray()
    for range in addresses { writer.string(range.description) }
    writer.endArray()
    writer.member("created_at", createdAt.rfc3339)
    writer.member("expires_at", expiresAt?.rfc3339)
    writer.member("last_used_at", lastUsedAt?.rfc3339)
    writer.objects("secrets", secrets) { writer, secret in
      writer.member("created_at", secret.createdAt.rfc3339)
      writer.member("expires_at", secret.endsAt?.rfc3339)
    }
  }

  /// Heads of a table of keys, in the order of `row`.
  package static let columns = [
    "id", "app", "name", "scopes", "addresses", "created_at", "expires_at", "last_used_at", "secrets",
  ]
  /// As `columns`; the last is how many secrets there are.
  package var row: [String] {
    [
      id, app.rawValue, name, sortedScopes.joined(separator: ","), addresses.map(\.description).joined(separator: ","),
      createdAt.rfc3339, expiresAt?.rfc3339 ?? "", lastUsedAt?.rfc3339 ?? "", String(secrets.count),
    ]
  }

  /// As they are written everywhere.
  package var sortedScopes: [String] { scopes.map(\.rawValue).sorted() }
}

extension Problem {
  fileprivate init(_ fault: KeyringFault) {
    switch fault {
    case .store(let error): self.init(error)
    case .refused(let refusal): self.init(refusal)
    }
  }

  private init(_ refusal: KeyRefusal) {
    switch refusal {
    case .unknown: self = Problem.noKey
    case .notYours: self = Authentication.unknown
    case .full:
      self.init(.keyLimit, "The app has \(APIKey.mostOfApp) keys, which is the limit: revoke some")
    case .lastAdmin:
      self.init(
        .lastAdminKey,
        "No other key of this app has `admin`: create one first, or use `fanfare keys` on the gateway's machine")
    case .rotating(let until):
      self.init(
        .keyRotating,
        "The key has two secrets until \(until.rfc3339): wait until then, or end all former secrets with `\"keep\": 0`")
    case .beyond(.scopes(let scopes)):
      let list = scopes.map { "`\($0)`" }.joined(separator: ", ")
      self.init(.forbidden, "Your key lacks \(list): it cannot give a scope that it lacks, nor change a key with one")
    case .beyond(.expiry(let end)):
      self.init(
        .forbidden,
        "Your key ends at \(end.rfc3339): it cannot create or change a key that ends later; set `expires_at`")
    case .beyond(.addresses):
      self.init(
        .forbidden,
        "Your key is valid from some addresses only: it cannot create or change a key that is valid from others; "
          + "set `addresses` to some of its own")
    }
  }
}
