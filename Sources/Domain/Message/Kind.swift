/// What a message is for. Which tokens it may reach: `PushType`.
package enum Kind: String, Hashable, Sendable, CaseIterable {
  case alert
  case background
  case liveActivity = "live_activity"
  case voip
  case location
  case complication
  case fileProvider = "file_provider"
  case mdm
  case pushToTalk = "push_to_talk"
  case widgets
  case controls
}

/// How soon a device should show it; each provider has its own form (`docs/fields.md`).
package enum Priority: String, Hashable, Sendable, CaseIterable {
  case high
  case normal
  /// APNs: never wakes the device. Elsewhere the same as normal.
  case low
}

extension Kind {
  /// Calls and transmissions that come late are none: they are tried once, or within seconds.
  package var ttlRange: ClosedRange<Int> {
    switch self {
    case .voip: 0...Self.callTTL
    case .pushToTalk: 0...0
    default: 0...Message.maximumTTL
    }
  }
  package var defaultTTL: Int { min(Message.defaultTTL, self == .voip ? 0 : ttlRange.upperBound) }
  private static let callTTL = 30
}

extension Message.Fields {
  /// The priority asked for, or what the kind has without a word: high for what somebody waits for or should see now.
  package var effectivePriority: Priority {
    if let priority { return priority }
    switch kind {
    case .alert, .voip, .location, .pushToTalk, .complication, .mdm, .controls: return .high
    case .background, .fileProvider, .widgets: return .normal
    // Each urgent update counts against the device's hourly budget: those that show nothing new can wait.
    case .liveActivity: return notification != nil || liveActivity?.event == .start ? .high : .normal
    }
  }
}
