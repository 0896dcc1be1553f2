import Store

extension Endpoint {
  static let audiences: [Endpoint] = [
    Endpoint(
      "countAudience", "POST", "/v1/audiences/count", .key([.read]),
      "Count an audience exactly, by provider and platform", body: .init("AudienceToCount"),
      answers: [
        .json(200, "The exact number of devices, and how many of them a message would be sent to now", "AudienceCount")
      ],
      problems: [.invalidAudience]
    ) { $0.countAudience },
    Endpoint(
      "listAudiences", "GET", "/v1/audiences", .key([.read]), query: ["format"], "List or export the named audiences",
      answers: [.list("All of them, by name; as NDJSON or CSV too", "NamedAudience", "NamedAudience")]
    ) { $0.listAudiences },
    Endpoint(
      "putAudience", "PUT", "/v1/audiences/{name}", .key([.admin]), "Name an audience", body: .init("AudienceToKeep"),
      answers: [.json(200, "Replaced", "NamedAudience"), .json(201, "Created", "NamedAudience")],
      problems: [.invalidAudience]
    ) { $0.putAudience },
    Endpoint(
      "readAudience", "GET", "/v1/audiences/{name}", .key([.read]), "Read a named audience",
      answers: [.json(200, "The audience", "NamedAudience")],
      problems: [.notFound]
    ) { $0.readAudience },
    Endpoint(
      "deleteAudience", "DELETE", "/v1/audiences/{name}", .key([.admin]), "Delete a named audience",
      answers: [.empty(204, "Deleted")],
      problems: [.notFound, .audienceInUse]
    ) { $0.deleteAudience },
  ]

  static let tags: [Endpoint] = [
    Endpoint(
      "listTags", "GET", "/v1/tags", .key([.devices, .read]), query: ["prefix", "limit", "cursor", "format"],
      "List tags in use, with counts",
      answers: [
        .list(
          "A page, sorted by tag; with more than about 50,000 tags unsorted, and a page may be short; all tags as "
            + "NDJSON or CSV",
          "Tag", "TagCount")
      ],
      problems: [.invalidCursor]
    ) { $0.listTags }
  ]
}
