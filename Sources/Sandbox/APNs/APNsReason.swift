/// The words APNs answers with, and their statuses. Rules may use others.
enum APNsReason: String, CaseIterable {
  case badCollapseId = "BadCollapseId"
  case badDeviceToken = "BadDeviceToken"
  case badExpirationDate = "BadExpirationDate"
  case badMessageId = "BadMessageId"
  case badPriority = "BadPriority"
  case badTopic = "BadTopic"
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  case duplicateHeaders = "DuplicateHeaders"
  case invalidPushType = "InvalidPushType"
  case missingDeviceToken = "MissingDeviceToken"
  case missingPushType = "MissingPushType"
  case missingTopic = "MissingTopic"
  case payloadEmpty = "PayloadEmpty"
  /// Printed for broadcasts only, and the nearest word for a body that is no JSON object.
  case badRequestPayload = "BadRequestPayload"
  case topicDisallowed = "TopicDisallowed"
  // Broadcasts and channels.
  case featureNotEnabled = "FeatureNotEnabled"
  case missingChannelId = "MissingChannelId"
  case badChannelId = "BadChannelId"
  case channelNotRegistered = "ChannelNotRegistered"
  case cannotCreateChannelConfig = "CannotCreateChannelConfig"
  case missingChannelQueueSize = "MissingChannelQueueSize"
  case topicMismatch = "TopicMismatch"
  // Credentials.
  case badCertificate = "BadCertificate"
  case badCertificateEnvironment = "BadCertificateEnvironment"
  case badEnvironmentKeyIdInToken = "BadEnvironmentKeyIdInToken"
  case unrelatedKeyIdInToken = "UnrelatedKeyIdInToken"
  case expiredProviderToken = "ExpiredProviderToken"
  case invalidProviderToken = "InvalidProviderToken"
  case missingProviderToken = "MissingProviderToken"
  case badPath = "BadPath"
  case methodNotAllowed = "MethodNotAllowed"
  case payloadTooLarge = "PayloadTooLarge"
  case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"

  var status: Int {
    switch self {
    case .expiredProviderToken, .invalidProviderToken, .missingProviderToken, .badCertificate,
      .badCertificateEnvironment, .badEnvironmentKeyIdInToken, .unrelatedKeyIdInToken, .topicMismatch:
      403
    case .badPath: 404
    case .methodNotAllowed: 405
    case .payloadTooLarge: 413
    case .tooManyProviderTokenUpdates: 429
    default: 400
    }
  }

  /// The usual word for a status, for rules that give none.
  static func usual(for status: Int) -> String {
    switch status {
    case 200: ""
    case 400: "BadDeviceToken"
    case 403: "InvalidProviderToken"
    case 404: "BadPath"
    case 405: "MethodNotAllowed"
    case 410: "Unregistered"
    case 413: "PayloadTooLarge"
    case 429: "TooManyRequests"
    case 503: "ServiceUnavailable"
    default: "InternalServerError"
    }
  }
}

struct APNsRefusal: Error {
  var reason: APNsReason
  init(_ reason: APNsReason) { self.reason = reason }
}
