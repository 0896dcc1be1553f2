import Store

extension Endpoint {
  static let keys: [Endpoint] = [
    Endpoint(
      "listKeys", "GET", "/v1/keys", .key([.keys]), query: ["format"], "List or export the API keys of the app",
      answers: [.list("All of them, oldest first; as NDJSON or CSV too", "APIKey", "APIKey")]
    ) { $0.keys.listKeys },
    Endpoint(
      "createKey", "POST", "/v1/keys", .key([.keys]), "Create an API key that can do no more than the request's key",
      body: .init("KeyToMake") { $0.keys.newKey },
      answers: [.json(201, "With its secret, which is shown only this once", "NewSecret")],
      problems: [.invalidKey, .keyLimit]
    ) { $0.keys.createKey },
    Endpoint(
      "readKey", "GET", "/v1/keys/{id}", .key([.keys]), "Read an API key",
      answers: [.json(200, "The key, without its secrets", "APIKey")],
      problems: [.notFound]
    ) { $0.keys.readKey },
    Endpoint(
      "changeKey", "PATCH", "/v1/keys/{id}", .key([.keys]), "Change name, scopes, expiry or addresses of an API key",
      body: .init("KeyEdit") { $0.keys.edit },
      answers: [.json(200, "The key after the change", "APIKey")],
      problems: [.invalidKey, .lastAdminKey, .notFound]
    ) { $0.keys.changeKey },
    Endpoint(
      "revokeKey", "DELETE", "/v1/keys/{id}", .key([.keys]), "Revoke an API key",
      answers: [.empty(204, "Revoked: within a second no process accepts it")],
      problems: [.lastAdminKey, .notFound]
    ) { $0.keys.revokeKey },
    Endpoint(
      "rotateKey", "POST", "/v1/keys/{id}/rotate", .key([.keys]),
      "Give an API key a new secret; the former one stays valid for some time",
      body: .init("KeyRotation", mayBeMissing: true) { $0.keys.rotation },
      answers: [.json(200, "With the new secret, which is shown only this once", "NewSecret")],
      problems: [.invalidKey, .keyRotating, .notFound]
    ) { $0.keys.rotateKey },
  ]
}
