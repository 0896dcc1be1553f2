import Store

extension Endpoint {
  static let audiences: [Endpoint] = [
    Endpoint(
      "countAudience", "POST", "/v1/audiences/count", .key([.read, .drafts]),
      "Count an audience exactly, by provider and platform", body: .init("AudienceToCount") { $0.audiences.reading },
      answers: [
        .json(200, "The exact number of devices, and how many of them a message would be sent to now", "AudienceCount")
      ],
      problems: [.invalidAudience], audit: Audit.none
    ) { $0.audiences.countAudience },
    Endpoint(
      "listAudiences", "GET", "/v1/audiences", .key([.read]), query: ["format"], "List or export the named audiences",
      answers: [.list("All of them, by name; as NDJSON or CSV too", "NamedAudience", "NamedAudience")]
    ) { $0.namedAudiences.listAudiences },
    Endpoint(
      "putAudience", "PUT", "/v1/audiences/{name}", .key([.admin]), "Name an audience",
      body: .init("AudienceToKeep") { $0.namedAudiences.reading },
      answers: [.json(200, "Replaced", "NamedAudience"), .json(201, "Created", "NamedAudience")],
      problems: [.invalidAudience]
    ) { $0.namedAudiences.putAudience },
    Endpoint(
      "readAudience", "GET", "/v1/audiences/{name}", .key([.read]), "Read a named audience",
      answers: [.json(200, "The audience", "NamedAudience")],
      problems: [.notFound]
    ) { $0.namedAudiences.readAudience },
    Endpoint(
      "deleteAudience", "DELETE", "/v1/audiences/{name}", .key([.admin]), "Delete a named audience",
      answers: [
        .json(200, "Deleted, though drafts or scheduled messages name it", "AudienceDeleted"), .empty(204, "Deleted"),
      ],
      problems: [.notFound, .audienceInUse]
    ) { $0.namedAudiences.deleteAudience },
  ]
}
