import Store

extension Endpoint {
  static let drafts: [Endpoint] = [
    Endpoint(
      "listDrafts", "GET", "/v1/drafts", .key([.send, .read, .test, .drafts]), query: ["format"],
      "List or export the drafts, newest first",
      answers: [.list("All of them, newest first; as NDJSON or CSV too", "Draft", "DraftSummary")]
    ) { $0.drafts.listDrafts },
    Endpoint(
      "createDraft", "POST", "/v1/drafts", .key([.send, .drafts]), "Create a draft",
      body: .init("DraftToKeep") { $0.drafts.reading },
      answers: [.json(201, "Kept until it is sent or deleted", "Draft")],
      problems: [.invalidDraft, .draftLimit]
    ) { $0.drafts.createDraft },
    Endpoint(
      "readDraft", "GET", "/v1/drafts/{id}", .key([.send, .read, .test, .drafts]),
      "Read a draft, with what is missing before it can be sent",
      answers: [.json(200, "The draft; `etag` is its version", "Draft")],
      problems: [.notFound, .draftSent]
    ) { $0.drafts.readDraft },
    Endpoint(
      "replaceDraft", "PUT", "/v1/drafts/{id}", .key([.send, .drafts]),
      "Replace a draft, if nobody has changed it since",
      body: .init("DraftToKeep") { $0.drafts.reading }, headers: [.match],
      answers: [.json(200, "Replaced", "Draft")],
      problems: [.invalidDraft, .notFound, .draftSent, .draftConflict, .preconditionRequired]
    ) { $0.drafts.replaceDraft },
    Endpoint(
      "deleteDraft", "DELETE", "/v1/drafts/{id}", .key([.send, .drafts]), "Delete a draft", headers: [.match],
      answers: [.empty(204, "Deleted")],
      problems: [.notFound, .draftSent, .draftConflict]
    ) { $0.drafts.deleteDraft },
    Endpoint(
      "countDraft", "POST", "/v1/drafts/{id}/count", .key([.send, .read, .test, .drafts]),
      "Forecast how many devices a draft would be sent to now",
      answers: [.json(200, "The forecast, if the draft were sent now", "DraftCount")],
      problems: [.notFound, .draftSent, .invalidMessage], audit: Audit.none
    ) { $0.draftSending.countDraft },
    Endpoint(
      "testDraft", "POST", "/v1/drafts/{id}/test", .key([.send, .test, .drafts]), "Send a draft to test lists only",
      body: .init("Test") { $0.draftTests.reading },
      answers: [.json(202, "A message for each variant, stored durably", "Tests")],
      problems: [.invalidTest, .notFound, .draftSent]
    ) { $0.draftTests.testDraft },
    Endpoint(
      "approveDraft", "POST", "/v1/drafts/{id}/approve", .key([.send]),
      "Approve a version of a draft that another key has written", headers: [.match],
      answers: [.json(200, "Approved, now or before, until somebody changes it", "Draft")],
      problems: [.notFound, .draftSent, .draftConflict, .preconditionRequired, .ownDraft]
    ) { $0.drafts.approveDraft },
    Endpoint(
      "sendDraft", "POST", "/v1/drafts/{id}/send", .key([.send]), query: ["dry_run", "wait"],
      "Send a draft, once, now or at a time; with `dry_run`, show what would be sent",
      body: .init("DraftSending", mayBeMissing: true) { $0.draftSending.time }, headers: [.match, .prefer],
      answers: [
        .json(
          200, "What would be sent (`dry_run`), and nothing was stored; or stored, and completed in time (`wait`)",
          "DryRunOrCompleted"),
        .json(202, "Stored durably, now or by an earlier request", "Accepted"),
      ],
      problems: [.notFound, .draftSent, .draftConflict, .invalidMessage, .invalidBody, .approvalNeeded]
    ) { $0.draftSending.sendDraft },
    Endpoint(
      "duplicateDraft", "POST", "/v1/drafts/{id}/duplicate", .key([.send, .drafts]), "Create a new draft from a draft",
      answers: [.json(201, "Kept until it is sent or deleted", "Draft")],
      problems: [.notFound, .draftSent, .draftLimit]
    ) { $0.drafts.duplicateDraft },
    Endpoint(
      "listTestLists", "GET", "/v1/test_lists", .key([.send, .read, .test, .drafts]), query: ["format"],
      "List or export the test lists",
      answers: [.list("All of them, by name; as NDJSON or CSV too", "TestList", "TestList")]
    ) { $0.testLists.listTestLists },
    Endpoint(
      "putTestList", "PUT", "/v1/test_lists/{name}", .key([.send]), "Create or replace a test list",
      body: .init("TestListToKeep") { $0.testLists.recipients },
      answers: [.json(200, "Replaced", "TestList"), .json(201, "Created", "TestList")],
      problems: [.invalidTestList]
    ) { $0.testLists.putTestList },
    Endpoint(
      "readTestList", "GET", "/v1/test_lists/{name}", .key([.send, .read, .test, .drafts]), "Read a test list",
      answers: [.json(200, "The test list", "TestList")],
      problems: [.notFound]
    ) { $0.testLists.readTestList },
    Endpoint(
      "deleteTestList", "DELETE", "/v1/test_lists/{name}", .key([.send]), "Delete a test list",
      answers: [.empty(204, "Deleted")],
      problems: [.notFound]
    ) { $0.testLists.deleteTestList },
  ]
}
