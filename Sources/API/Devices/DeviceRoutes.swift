import Store

extension Endpoint {
  /// By which phones and browsers register themselves.
  static let registrationPath = "/v1/devices"

  static let devices: [Endpoint] = [
    Endpoint(
      "listDevices", "GET", "/v1/devices", .key([.devices, .read]),
      query: [
        "limit", "cursor", "user", "tag", "provider", "platform", "environment", "token_kind", "status", "token",
        "format",
      ], "List or export devices, including dead ones",
      answers: [.list("A page; all devices as NDJSON or CSV", "Device", "Device")],
      problems: [.invalidCursor]
    ) { $0.deviceLists.listDevices },
    Endpoint(
      "registerDevice", "POST", registrationPath, .key([.devices, .register]), "Register a device by its token",
      body: .init("DeviceRegistration") { $0.devices.readByToken }, headers: [.identity],
      answers: [.json(200, "Replaced, revived or moved", "Registered"), .json(201, "Created", "Registered")],
      problems: [.invalidDevice, .identityRequired, .identityExpired, .invalidIdentity, .tooManyRegistrations],
      // What phones and their servers say of devices is no act of an operator; deletions and imports are.
      audit: Audit.none
    ) { $0.devices.registerDevice },
    Endpoint(
      "registerDevices", "POST", "/v1/devices/bulk", .key([.devices]),
      query: ["map", "set", "keep_missing", "dry_run"],
      "Register many devices: NDJSON or CSV in, NDJSON out; with `dry_run`, show what would become of each line",
      body: .init("ImportedDevice", in: [.lines, .table]),
      answers: [
        .init(
          200,
          "One result a line, in order: `line`, and `id` and `registration` (or `skipped`) or `problem`; with `dry_run` what "
            + "would become of it, and nothing is written",
          [("application/x-ndjson", "LineResult")])
      ],
      problems: [.malformedTable, .invalidTable]
    ) { $0.devices.registerDevices },
    Endpoint(
      "exportDevices", "GET", "/v1/devices/export", .key([.export]), query: ["dead", "format"],
      "Export all devices, as NDJSON or CSV", forms: [.lines, .table],
      answers: [
        .init(
          200, "One device on each line, in the format of the import",
          [("application/x-ndjson", "ImportedDevice"), ("text/csv", nil)])
      ]
    ) { $0.deviceLists.exportDevices },
    Endpoint(
      "putDevice", "PUT", "/v1/devices/{id}", .key([.devices]), "Register or replace a device",
      body: .init("DeviceRegistration") { $0.devices.readNamed },
      answers: [.json(200, "Replaced, revived or moved", "Registered"), .json(201, "Created", "Registered")],
      problems: [.invalidDevice], audit: Audit.none
    ) { $0.devices.putDevice },
    Endpoint(
      "readDevice", "GET", "/v1/devices/{id}", .key([.devices, .read]), "Read a device",
      answers: [.json(200, "The device", "Device")],
      problems: [.notFound]
    ) { $0.devices.readDevice },
    Endpoint(
      "deleteDevice", "DELETE", "/v1/devices/{id}", .key([.devices]), "Delete a device",
      answers: [.empty(204, "Deleted")],
      problems: [.notFound]
    ) { $0.devices.deleteDevice },
    Endpoint(
      "changeDeviceTags", "PATCH", "/v1/devices/{id}/tags", .key([.devices]),
      "Add, remove or replace the tags of a device", body: .init("TagEdit") { $0.tags.edit(ofDevice:) },
      answers: [.json(200, "The tags after the change", "Tags")],
      problems: [.invalidTags, .notFound], audit: Audit.none
    ) { $0.tags.changeDeviceTags },
    Endpoint(
      "timeline", "GET", "/v1/devices/{id}/timeline", .key([.devices, .read]), query: ["limit", "cursor", "format"],
      "List the messages to a device, with their outcomes",
      answers: [
        .init(
          200, "A page, newest first; all entries as NDJSON or CSV",
          [("application/json", "Timeline"), ("application/x-ndjson", "TimelineEntry"), ("text/csv", nil)])
      ],
      problems: [.invalidCursor, .notFound]
    ) { $0.timelines.timeline },
  ]

  static let prunes: [Endpoint] = [
    Endpoint(
      "reviewPrunes", "GET", "/v1/prunes", .key([.admin]), query: ["credential"],
      "Review the prunes that a prune brake holds",
      answers: [.json(200, "The held prunes, by credential", "PruneList")]
    ) { $0.prunes.reviewPrunes },
    Endpoint(
      "applyPrunes", "POST", "/v1/prunes/apply", .key([.admin]), query: ["credential"],
      "Release a prune brake and carry out its held prunes",
      answers: [.json(200, "The prunes are carried out", "PrunesApplied")]
    ) { $0.prunes.applyPrunes },
    Endpoint(
      "discardPrunes", "POST", "/v1/prunes/discard", .key([.admin]), query: ["credential"],
      "Release a prune brake and discard its held prunes",
      answers: [.json(200, "Forgotten", "PrunesDiscarded")]
    ) { $0.prunes.discardPrunes },
    Endpoint(
      "undoPrunes", "POST", "/v1/prunes/undo", .key([.admin]), query: ["message", "credential", "from", "to"],
      "Undo prunes: the devices become active again",
      answers: [.json(200, "Undone", "PrunesUndone")]
    ) { $0.prunes.undoPrunes },
  ]

  static let users: [Endpoint] = [
    Endpoint(
      "putUserTags", "PUT", "/v1/users/{user}/tags", .key([.devices]),
      "Set the tags of all devices of a user, including later ones", body: .init("UserTags") { $0.tags.edit(ofUser:) },
      answers: [.json(200, "The tags after the change", "Tags")],
      problems: [.invalidTags, .notFound], audit: Audit.none
    ) { $0.tags.putUserTags },
    Endpoint(
      "changeUserTags", "PATCH", "/v1/users/{user}/tags", .key([.devices]),
      "Add, remove or replace the tags of all devices of a user, including later ones",
      body: .init("TagEdit") { $0.tags.edit(ofDevice:) },
      answers: [.json(200, "The tags after the change", "Tags")],
      problems: [.invalidTags, .notFound], audit: Audit.none
    ) { $0.tags.changeUserTags },
    Endpoint(
      "readUser", "GET", "/v1/users/{user}", .key([.devices, .read]), "Read the devices of a user",
      answers: [.json(200, "The devices of the user", "User")],
      problems: [.notFound]
    ) { $0.users.readUser },
    Endpoint(
      "deleteUser", "DELETE", "/v1/users/{user}", .key([.devices]), "Delete the devices of a user",
      answers: [.json(200, "Deleted", "UserDeleted")],
      problems: [.notFound]
    ) { $0.users.deleteUser },
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
    ) { $0.tags.listTags }
  ]
}
