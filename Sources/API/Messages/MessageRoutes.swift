import Store

extension Endpoint {
  /// Of the list of messages, where `?state=` names states of messages.
  static let messagesPath = "/v1/messages"
  static let sendMessages = "sendMessages"

  static let messages: [Endpoint] = [
    Endpoint(
      "sendMessage", "POST", messagesPath, .key([.send]), query: ["dry_run", "wait"],
      "Send a message to devices, users, tokens or an audience; with `dry_run`, show what would be sent",
      body: .init("Message") { $0.sending.reading }, headers: [.idempotencyKey, .prefer],
      answers: [
        .json(
          200, "What would be sent (`dry_run`), and nothing was stored; or stored, and completed in time (`wait`)",
          "DryRunOrCompleted"),
        .json(202, "Stored in Redis; the message survives any crash of the gateway", "Accepted"),
      ],
      problems: [.invalidMessage, .idempotencyKeyReused, .requestInProgress, .approvalNeeded], audit: .send
    ) { $0.sending.sendMessage },
    Endpoint(
      "listMessages", "GET", messagesPath, .key([.read]),
      query: ["limit", "cursor", "state", "label", "name", "topic", "audience", "from", "to", "format"],
      "List or export messages, newest first",
      answers: [.list("A page, newest first; all messages as NDJSON or CSV", "Message", "MessageReport")],
      problems: [.invalidCursor]
    ) { $0.messages.listMessages },
    Endpoint(
      sendMessages, "POST", "/v1/messages/bulk", .key([.send]), "Send many messages: NDJSON in, NDJSON out",
      body: .init("BulkMessage", in: [.lines]),
      answers: [
        .init(
          200, "One result a line, in order: `line`, and the stored message or `problem`",
          [("application/x-ndjson", "MessageResult")])
      ], audit: .send
    ) { $0.bulkSending.sendMessages },
    Endpoint(
      "readMessage", "GET", "/v1/messages/{id}", .key([.read]), "Read state and counters of a message",
      answers: [.json(200, "State and counters", "MessageReport")],
      problems: [.notFound]
    ) { $0.messages.readMessage },
    Endpoint(
      "rescheduleMessage", "PATCH", "/v1/messages/{id}", .key([.send]), query: ["dry_run"],
      "Change the time of a scheduled message that has not started; with `dry_run`, show the forecast",
      body: .init("Schedule") { $0.rescheduling.change },
      answers: [.json(200, "With its new time and `warnings`; with `dry_run` nothing is changed", "MessageReport")],
      problems: [
        .invalidMessage, .messageStarted, .messageCompleted, .messageCancelled, .messageChanged, .notFound,
      ]
    ) { $0.rescheduling.rescheduleMessage },
    Endpoint(
      "listDeliveries", "GET", "/v1/messages/{id}/deliveries", .key([.read]),
      query: ["limit", "cursor", "state", "reason", "provider", "platform", "variant", "format"],
      "List or export the deliveries of a message",
      answers: [.list("A page; all deliveries as NDJSON or CSV", "Delivery", "Delivery")],
      problems: [.invalidCursor, .notFound]
    ) { $0.messages.listDeliveries },
    Endpoint(
      "cancelMessage", "POST", "/v1/messages/{id}/cancel", .key([.send]),
      "Cancel the deliveries that were not sent yet",
      answers: [.json(200, "Cancelled, now or before", "MessageReport")],
      problems: [.messageCompleted, .notFound]
    ) { $0.control.cancelMessage },
    Endpoint(
      "pauseMessage", "POST", "/v1/messages/{id}/pause", .key([.send]), "Pause a message; requests in flight finish",
      answers: [.json(200, "Paused, now or before", "MessageReport")],
      problems: [.messageCompleted, .messageCancelled, .notFound]
    ) { $0.control.pauseMessage },
    Endpoint(
      "resumeMessage", "POST", "/v1/messages/{id}/resume", .key([.send]), "Resume a paused message",
      answers: [.json(200, "Resumed, now or before", "MessageReport")],
      problems: [.messageCompleted, .messageCancelled, .notFound]
    ) { $0.control.resumeMessage },
    Endpoint(
      "replayMessage", "POST", "/v1/messages/{id}/replay", .key([.send]),
      "Send failed and expired deliveries again, as a new message",
      body: .init("Replay", mayBeMissing: true) { $0.replay.selection },
      headers: [.idempotencyKey],
      answers: [.json(202, "A new message, stored durably", "Accepted")],
      problems: [
        .invalidMessage, .idempotencyKeyReused, .requestInProgress, .cancelInProgress, .nothingToReplay, .notFound,
        .invalidCursor, .approvalNeeded,
      ]
    ) { $0.replay.replayMessage },
    Endpoint(
      "duplicateMessage", "POST", "/v1/messages/{id}/duplicate", .key([.send, .drafts]),
      "Create a draft from a message",
      answers: [.json(201, "Kept until it is sent or deleted", "Draft")],
      problems: [.notFound, .contentGone, .draftLimit, .invalidDraft]
    ) { $0.drafts.duplicateMessage },
  ]
}
