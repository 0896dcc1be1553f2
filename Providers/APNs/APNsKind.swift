import Domain

/// protocols/apns.md section 3: the eleven push types, and what each asks of its request.
extension Kind {
  /// `apns-push-type`.
  var pushType: String {
    switch self {
    case .alert: "alert"
    case .background: "background"
    case .liveActivity: "liveactivity"
    case .voip: "voip"
    case .location: "location"
    case .complication: "complication"
    case .fileProvider: "fileprovider"
    case .mdm: "mdm"
    case .pushToTalk: "pushtotalk"
    case .widgets: "widgets"
    case .controls: "controls"
    }
  }

  /// What follows the bundle id in `apns-topic`. The topic of device management is no bundle id at all.
  var topicSuffix: String {
    switch self {
    case .alert, .background, .mdm: ""
    case .liveActivity: ".push-type.liveactivity"
    case .voip: ".voip"
    case .location: ".location-query"
    case .complication: ".complication"
    case .fileProvider: ".pushkit.fileprovider"
    case .pushToTalk: ".voip-ptt"
    case .widgets: ".push-type.widgets"
    case .controls: ".push-type.controls"
    }
  }
}

extension Message {
  /// protocols/apns.md section 4.
  var apnsPayloadLimit: Int { self.kind == .voip || isBroadcast ? 5_120 : 4_096 }

  /// Only alerts may rest until the device wakes by itself, and background pushes are never urgent. Nil: where the vendor
  /// names no priority, none is sent unless somebody asked for one.
  var apnsPriority: String? {
    switch (self.kind, self.effectivePriority) {
    case (.widgets, _) where self.priority == nil: nil
    case (.background, _): "5"
    case (_, .high): "10"
    case (.alert, .low): "1"
    case (_, .normal), (_, .low): "5"
    }
  }

  var isBroadcast: Bool { if case .channel = self.to { true } else { false } }
}
