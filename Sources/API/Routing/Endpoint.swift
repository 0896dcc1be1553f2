package import Store

/// What the API can be asked to do.
package enum Operation: String, Sendable, CaseIterable {
  case sendMessage, sendMessages, listMessages, readMessage, listDeliveries, pauseMessage, resumeMessage, cancelMessage,
    replayMessage, rescheduleMessage
  case listDevices, registerDevice, registerDevices, putDevice, readDevice, deleteDevice
  case readUser, deleteUser
  case listDrafts, createDraft, readDraft, replaceDraft, deleteDraft, countDraft, testDraft, sendDraft, duplicateDraft
  case duplicateMessage
  case listTestLists, readTestList, putTestList, deleteTestList
  case countAudience, listAudiences, readAudience, putAudience, deleteAudience
  case createChannel, listChannels, readChannel, deleteChannel
  case reviewPrunes, applyPrunes, discardPrunes, undoPrunes
  case changeDeviceTags, putUserTags, listTags, exportDevices, timeline
  case health, readiness, metrics, openAPI
}

/// One method of one path: who may call it, and what it does.
package struct Endpoint: Sendable {
  package enum Access: Sendable {
    case open
    /// A key with any of these scopes, or `admin`.
    case key(Set<Scope>)
  }
  package enum Work: Sendable {
    case now(Operation)
    /// Answered 501.
    case later
  }
  package var method: String
  /// Segments in braces are parameters.
  package var path: String
  package var access: Access
  package var work: Work
  /// Query parameters; others are refused, as a mistyped `dry_run` must not send.
  package var query: [String]
  package var summary: String

  fileprivate init(
    _ method: String, _ path: String, _ access: Access, _ work: Work, query: [String] = [], _ summary: String
  ) {
    self.method = method
    self.path = path
    self.access = access
    self.work = work
    self.query = query
    self.summary = summary
  }

  /// Paths that take NDJSON end so.
  static let bulkEnding = "/bulk"
  /// What a body may be declared as.
  var bodyTypes: [String] {
    guard path.hasSuffix(Self.bulkEnding) else { return [ListForm.json.mediaType] }
    if case .now(.registerDevices) = work { return [Lines.mediaType, ListForm.table.mediaType] }
    return [Lines.mediaType]
  }

  var takesIdempotencyKey: Bool {
    switch work {
    case .now(.sendMessage), .now(.replayMessage): true
    default: false
    }
  }
  var takesMatch: Bool {
    switch work {
    case .now(.replaceDraft), .now(.deleteDraft), .now(.sendDraft): true
    default: false
    }
  }
  var bodyMayBeMissing: Bool { if case .now(.replayMessage) = work { true } else { false } }

  /// Literal paths stand before the patterns that would take them too.
  package static let all: [Endpoint] = [
    Endpoint(
      "POST", "/v1/messages", .key([.send]), .now(.sendMessage), query: ["dry_run"],
      "Send a message to devices, users, tokens or an audience; with `dry_run`, show what would be sent"),
    Endpoint(
      "GET", "/v1/messages", .key([.read]), .now(.listMessages),
      query: ["limit", "cursor", "state", "label", "name", "audience", "from", "to", "format"],
      "List or export messages, newest first"),
    Endpoint(
      "POST", "/v1/messages/bulk", .key([.send]), .now(.sendMessages), "Send many messages: NDJSON in, NDJSON out"),
    Endpoint("GET", "/v1/messages/{id}", .key([.read]), .now(.readMessage), "Read state and counters of a message"),
    Endpoint(
      "PATCH", "/v1/messages/{id}", .key([.send]), .now(.rescheduleMessage),
      "Change the time of a scheduled message that has not started"),
    Endpoint(
      "GET", "/v1/messages/{id}/deliveries", .key([.read]), .now(.listDeliveries),
      query: ["limit", "cursor", "state", "reason", "provider", "platform", "variant", "format"],
      "List or export the deliveries of a message"),
    Endpoint(
      "POST", "/v1/messages/{id}/cancel", .key([.send]), .now(.cancelMessage),
      "Cancel the deliveries that were not sent yet"),
    Endpoint(
      "POST", "/v1/messages/{id}/pause", .key([.send]), .now(.pauseMessage),
      "Pause a message; requests in flight finish"),
    Endpoint(
      "POST", "/v1/messages/{id}/resume", .key([.send]), .now(.resumeMessage), "Resume a paused message"),
    Endpoint(
      "POST", "/v1/messages/{id}/replay", .key([.send]), .now(.replayMessage),
      "Send failed and expired deliveries again, as a new message"),
    Endpoint(
      "POST", "/v1/messages/{id}/duplicate", .key([.send]), .now(.duplicateMessage),
      "Create a draft from a message"),
    Endpoint(
      "GET", "/v1/drafts", .key([.send, .read]), .now(.listDrafts), query: ["format"],
      "List or export the drafts, newest first"),
    Endpoint("POST", "/v1/drafts", .key([.send]), .now(.createDraft), "Create a draft"),
    Endpoint(
      "GET", "/v1/drafts/{id}", .key([.send, .read]), .now(.readDraft),
      "Read a draft, with what is missing before it can be sent"),
    Endpoint(
      "PUT", "/v1/drafts/{id}", .key([.send]), .now(.replaceDraft), "Replace a draft, if nobody has changed it since"),
    Endpoint("DELETE", "/v1/drafts/{id}", .key([.send]), .now(.deleteDraft), "Delete a draft"),
    Endpoint(
      "POST", "/v1/drafts/{id}/count", .key([.send, .read]), .now(.countDraft),
      "Forecast how many devices a draft would be sent to now"),
    Endpoint("POST", "/v1/drafts/{id}/test", .key([.send]), .now(.testDraft), "Send a draft to test lists only"),
    Endpoint(
      "POST", "/v1/drafts/{id}/send", .key([.send]), .now(.sendDraft), query: ["dry_run"],
      "Send a draft, once; with `dry_run`, show what would be sent"),
    Endpoint(
      "POST", "/v1/drafts/{id}/duplicate", .key([.send]), .now(.duplicateDraft), "Create a new draft from a draft"),
    Endpoint("GET", "/v1/test_lists", .key([.send, .read]), .now(.listTestLists), "List the test lists"),
    Endpoint("PUT", "/v1/test_lists/{name}", .key([.send]), .now(.putTestList), "Create or replace a test list"),
    Endpoint("GET", "/v1/test_lists/{name}", .key([.send, .read]), .now(.readTestList), "Read a test list"),
    Endpoint("DELETE", "/v1/test_lists/{name}", .key([.send]), .now(.deleteTestList), "Delete a test list"),
    Endpoint(
      "POST", "/v1/audiences/count", .key([.read]), .now(.countAudience),
      "Count an audience exactly, by provider and platform"),
    Endpoint(
      "GET", "/v1/audiences", .key([.read]), .now(.listAudiences), query: ["format"],
      "List or export the named audiences"),
    Endpoint("PUT", "/v1/audiences/{name}", .key([.admin]), .now(.putAudience), "Name an audience"),
    Endpoint("GET", "/v1/audiences/{name}", .key([.read]), .now(.readAudience), "Read a named audience"),
    Endpoint("DELETE", "/v1/audiences/{name}", .key([.admin]), .now(.deleteAudience), "Delete a named audience"),
    Endpoint(
      "GET", "/v1/devices", .key([.devices, .read]), .now(.listDevices),
      query: [
        "limit", "cursor", "user", "tag", "provider", "platform", "environment", "token_kind", "status", "format",
      ], "List or export devices, including dead ones"),
    Endpoint(
      "POST", "/v1/devices", .key([.devices, .register]), .now(.registerDevice), "Register a device by its token"),
    Endpoint(
      "POST", "/v1/devices/bulk", .key([.devices]), .now(.registerDevices), query: ["map", "set"],
      "Register many devices: NDJSON or CSV in, NDJSON out"),
    Endpoint(
      "GET", "/v1/devices/export", .key([.devices, .read]), .now(.exportDevices), query: ["dead", "format"],
      "Export all devices, as NDJSON or CSV"),
    Endpoint("PUT", "/v1/devices/{id}", .key([.devices]), .now(.putDevice), "Register or replace a device"),
    Endpoint("GET", "/v1/devices/{id}", .key([.devices, .read]), .now(.readDevice), "Read a device"),
    Endpoint("DELETE", "/v1/devices/{id}", .key([.devices]), .now(.deleteDevice), "Delete a device"),
    Endpoint(
      "PATCH", "/v1/devices/{id}/tags", .key([.devices]), .now(.changeDeviceTags),
      "Add, remove or replace the tags of a device"),
    Endpoint(
      "GET", "/v1/devices/{id}/timeline", .key([.devices, .read]), .now(.timeline),
      query: ["limit", "cursor", "format"],
      "List the messages to a device, with their outcomes"),
    Endpoint(
      "GET", "/v1/prunes", .key([.admin]), .now(.reviewPrunes), query: ["credential"],
      "Review the prunes that a prune brake holds"),
    Endpoint(
      "POST", "/v1/prunes/apply", .key([.admin]), .now(.applyPrunes), query: ["credential"],
      "Release a prune brake and carry out its held prunes"),
    Endpoint(
      "POST", "/v1/prunes/discard", .key([.admin]), .now(.discardPrunes), query: ["credential"],
      "Release a prune brake and discard its held prunes"),
    Endpoint(
      "POST", "/v1/prunes/undo", .key([.admin]), .now(.undoPrunes), query: ["message", "credential", "from", "to"],
      "Undo prunes: the devices become active again"),
    Endpoint(
      "PUT", "/v1/users/{user}/tags", .key([.devices]), .now(.putUserTags),
      "Set the tags of all devices of a user, including later ones"),
    Endpoint("GET", "/v1/users/{user}", .key([.devices, .read]), .now(.readUser), "Read the devices of a user"),
    Endpoint("DELETE", "/v1/users/{user}", .key([.devices]), .now(.deleteUser), "Delete the devices of a user"),
    Endpoint("POST", "/v1/channels", .key([.send]), .now(.createChannel), "Create a broadcast channel"),
    Endpoint(
      "GET", "/v1/channels", .key([.send, .read]), .now(.listChannels), query: ["environment", "bundle_id"],
      "List the broadcast channels of an app"),
    Endpoint(
      "GET", "/v1/channels/{id}", .key([.send, .read]), .now(.readChannel), query: ["environment", "bundle_id"],
      "Read a broadcast channel"),
    Endpoint(
      "DELETE", "/v1/channels/{id}", .key([.send]), .now(.deleteChannel), query: ["environment", "bundle_id"],
      "Delete a broadcast channel"),
    Endpoint(
      "GET", "/v1/tags", .key([.devices, .read]), .now(.listTags), query: ["prefix", "limit", "cursor", "format"],
      "List tags in use, with counts"),
    Endpoint("GET", "/v1/events", .key([.read]), .later, "Follow events"),
    Endpoint("GET", "/healthz", .open, .now(.health), "Show that the process is alive"),
    Endpoint("GET", "/readyz", .open, .now(.readiness), "Show whether the gateway is ready"),
    Endpoint("GET", "/metrics", .open, .now(.metrics), "Metrics in Prometheus' text format"),
    Endpoint("GET", "/openapi.json", .open, .now(.openAPI), "This description"),
  ]
}
