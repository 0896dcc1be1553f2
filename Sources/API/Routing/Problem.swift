package import Domain
package import Intake

/// Why a request was not done, as clients tell them apart. Codes and types are stable; texts are not.
package enum ProblemCode: String, Sendable, CaseIterable {
  case badRequest = "bad_request"
  case malformedJSON = "malformed_json"
  case malformedTable = "malformed_csv"
  case invalidTable = "invalid_csv"
  case invalidParameter = "invalid_parameter"
  case invalidCursor = "invalid_cursor"
  case unauthorized
  case forbidden
  case identityRequired = "identity_required"
  case identityExpired = "identity_expired"
  case invalidIdentity = "invalid_identity"
  case notFound = "not_found"
  case methodNotAllowed = "method_not_allowed"
  case requestTimeout = "request_timeout"
  case requestInProgress = "request_in_progress"
  case cancelInProgress = "cancel_in_progress"
  case messageCompleted = "message_completed"
  case messageCancelled = "message_cancelled"
  case messageStarted = "message_started"
  case messageChanged = "message_changed"
  case nothingToReplay = "nothing_to_replay"
  case draftSent = "draft_sent"
  case draftConflict = "draft_conflict"
  /// A second person is missing.
  case approvalNeeded = "approval_needed"
  /// Who wrote a draft cannot approve it.
  case ownDraft = "own_draft"
  case draftLimit = "draft_limit"
  case deviceLimit = "device_limit"
  case tagLimit = "tag_limit"
  case scheduledLimit = "scheduled_limit"
  case preconditionRequired = "precondition_required"
  case contentGone = "content_gone"
  case bodyTooLarge = "body_too_large"
  case unsupportedMediaType = "unsupported_media_type"
  case invalidBody = "invalid_body"
  case invalidMessage = "invalid_message"
  case invalidDevice = "invalid_device"
  case invalidChannel = "invalid_channel"
  case channelLimit = "channel_limit"
  case invalidAudience = "invalid_audience"
  case audienceInUse = "audience_in_use"
  case invalidTags = "invalid_tags"
  case invalidDraft = "invalid_draft"
  case invalidTest = "invalid_test"
  case invalidTestList = "invalid_test_list"
  case invalidKey = "invalid_key"
  case keyLimit = "key_limit"
  case keyRotating = "key_rotating"
  case lastAdminKey = "last_admin_key"
  case idempotencyKeyReused = "idempotency_key_reused"
  case headTooLarge = "head_too_large"
  case tooManyFailedKeys = "too_many_failed_keys"
  case tooMuchAtOnce = "too_much_at_once"
  case rateLimited = "rate_limited"
  case beyondRateLimit = "beyond_rate_limit"
  case tooManyRegistrations = "too_many_registrations"
  case internalError = "internal_error"
  case notYet = "not_yet"
  case overloaded
  case storeUnavailable = "store_unavailable"
  case durabilityUnconfirmed = "durability_unconfirmed"
  case providerRefused = "provider_refused"
  case providerUnavailable = "provider_unavailable"

  package var status: Int {
    switch self {
    case .badRequest, .malformedJSON, .malformedTable, .invalidParameter, .invalidCursor: 400
    case .unauthorized, .identityRequired, .identityExpired: 401
    case .forbidden, .invalidIdentity: 403
    case .notFound: 404
    case .methodNotAllowed: 405
    case .requestTimeout: 408
    case .requestInProgress, .cancelInProgress, .channelLimit, .messageCompleted, .messageCancelled, .messageStarted,
      .messageChanged,
      .audienceInUse,
      .nothingToReplay:
      409
    case .draftSent, .draftLimit, .deviceLimit, .tagLimit, .scheduledLimit, .keyLimit, .keyRotating, .lastAdminKey: 409
    case .contentGone: 410
    case .draftConflict: 412
    case .approvalNeeded, .ownDraft: 403
    case .bodyTooLarge: 413
    case .unsupportedMediaType: 415
    case .invalidMessage, .invalidDevice, .invalidTags, .invalidChannel, .invalidAudience, .idempotencyKeyReused: 422
    case .invalidBody, .invalidDraft, .invalidTest, .invalidTestList, .invalidTable, .invalidKey, .beyondRateLimit: 422
    case .preconditionRequired: 428
    case .tooManyFailedKeys, .tooMuchAtOnce, .rateLimited, .tooManyRegistrations: 429
    case .headTooLarge: 431
    case .internalError: 500
    case .notYet: 501
    case .providerRefused: 502
    case .overloaded, .storeUnavailable, .durabilityUnconfirmed, .providerUnavailable: 503
    }
  }

  /// True if the same request may succeed later.
  package var isRetryable: Bool {
    switch self {
    case .requestTimeout, .requestInProgress, .cancelInProgress, .tooManyFailedKeys, .tooMuchAtOnce, .rateLimited,
      .tooManyRegistrations, .overloaded, .storeUnavailable, .durabilityUnconfirmed, .providerUnavailable:
      true
    default: false
    }
  }

  package var title: String {
    switch self {
    case .badRequest: "The request is not valid HTTP"
    case .malformedJSON: "The body is not valid JSON"
    case .malformedTable: "The body is not valid CSV"
    case .invalidTable: "The columns of the table are not valid"
    case .invalidParameter: "A query parameter or header is not valid"
    case .invalidCursor: "The cursor does not come from this list"
    case .unauthorized: "A valid API key is needed"
    case .forbidden: "The API key may not do this"
    case .identityRequired: "An identity token is needed"
    case .identityExpired: "The identity token has expired"
    case .invalidIdentity: "The identity token does not allow this"
    case .notFound: "Not found"
    case .methodNotAllowed: "This path does not support this method"
    case .requestTimeout: "The request did not arrive in time"
    case .requestInProgress: "A request with this idempotency key is still in progress"
    case .cancelInProgress: "The message is still being cancelled"
    case .messageCompleted: "The message is already completed"
    case .messageCancelled: "The message is cancelled"
    case .messageStarted: "The message has already started"
    case .messageChanged: "Somebody else has changed the message"
    case .nothingToReplay: "There is nothing to send again"
    case .draftSent: "The draft is sent"
    case .draftConflict: "Somebody else has changed the draft"
    case .approvalNeeded: "A second person must approve it"
    case .ownDraft: "Nobody approves their own draft"
    case .draftLimit: "The app has reached its limit of drafts"
    case .deviceLimit: "The app has reached its limit of devices"
    case .tagLimit: "The app has reached its limit of different tags"
    case .scheduledLimit: "The app has reached its limit of scheduled messages"
    case .preconditionRequired: "The request must name the version that it changes"
    case .contentGone: "The content of the message is no longer stored"
    case .invalidBody: "The body is not valid"
    case .invalidDraft: "The draft is not valid"
    case .invalidTest: "The test is not valid"
    case .invalidTestList: "The test list is not valid"
    case .invalidKey: "The key is not valid"
    case .keyLimit: "The app has reached its limit of keys"
    case .keyRotating: "The key has two secrets already"
    case .lastAdminKey: "This is the app's last key with `admin`"
    case .bodyTooLarge: "The body is too large"
    case .unsupportedMediaType: "The body has the wrong content type"
    case .invalidMessage: "The message is not valid"
    case .invalidDevice: "The device is not valid"
    case .invalidAudience: "The audience is not valid"
    case .audienceInUse: "Other audiences use this audience"
    case .invalidTags: "The tags are not valid"
    case .idempotencyKeyReused: "The idempotency key was used for another request"
    case .tooManyFailedKeys: "Too many invalid API keys were sent"
    case .tooMuchAtOnce: "Together, the requests in progress are too large"
    case .rateLimited: "A rate limit is reached"
    case .beyondRateLimit: "The request needs more than a rate limit can ever allow"
    case .tooManyRegistrations: "Too many new devices were registered without an identity token"
    case .headTooLarge: "The request line and headers are too large"
    case .internalError: "The gateway failed"
    case .notYet: "This call comes with a later version"
    case .overloaded: "The gateway is overloaded"
    case .storeUnavailable: "The store cannot be used now"
    case .durabilityUnconfirmed: "The replicas did not confirm the message in time"
    case .invalidChannel: "The channel is not valid"
    case .channelLimit: "The app has reached its limit of channels"
    case .providerRefused: "The provider refused the request"
    case .providerUnavailable: "The provider is unavailable"
    }
  }

  /// A stable URI reference (RFC 9457).
  package var type: String {
    "/problems/"
      + String(decoding: rawValue.utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }, as: UTF8.self)
  }
}

/// A problem document (RFC 9457) in the making.
package struct Problem: Error, Sendable {
  package var code: ProblemCode
  /// A sentence that names the fix.
  package var detail: String
  package var violations: [Violation]
  /// Seconds; told as `Retry-After`.
  package var retryAfter: Int?
  /// The message that is stored all the same.
  package var id: MessageID?
  /// More headers, such as `allow`.
  package var headers: [Header]
  /// Of a rate limit that is reached: its policies, as the `RateLimit` header names them.
  var violatedPolicies: [String] = []

  /// `detail`: for the caller, without tokens and payloads. `violations`: each with its own place.
  package init(
    _ code: ProblemCode, _ detail: String, violations: [Violation] = [], retryAfter: Int? = nil, headers: [Header] = []
  ) {
    self.code = code
    self.detail = detail
    self.violations = violations
    self.retryAfter = retryAfter
    self.headers = headers
  }

  /// One fault of a header. `detail` names the header.
  init(header: String, _ code: Violation.Code, _ detail: String) {
    var violation = Violation("", code, detail)
    violation.parameter = header
    self.init(.invalidParameter, detail, violations: [violation])
  }
}
