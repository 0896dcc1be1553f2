/// The push types of the vendor's table, with what each asks of topic and priority.
enum APNsPushType: String, CaseIterable {
  case alert, background, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, widgets, controls

  /// Topics of device management are no bundle ids.
  static let mdmPrefix = "com.apple.mgmt."

  var topicSuffix: String {
    switch self {
    case .alert, .background, .mdm: ""
    case .location: ".location-query"
    case .voip: ".voip"
    case .complication: ".complication"
    case .fileprovider: ".pushkit.fileprovider"
    case .liveactivity: ".push-type.liveactivity"
    case .pushtotalk: ".voip-ptt"
    case .widgets: ".push-type.widgets"
    case .controls: ".push-type.controls"
    }
  }

  var priorities: Set<Int> {
    switch self {
    case .background: [5]
    case .location, .complication, .liveactivity: [5, 10]
    case .pushtotalk: [10]
    case .alert, .voip, .fileprovider, .mdm, .widgets, .controls: [1, 5, 10]
    }
  }

  var maximumPayload: Int { self == .voip ? 5120 : 4096 }

  /// Types whose payload is the app's or the system's affair, without `aps`.
  var needsAPS: Bool {
    switch self {
    case .alert, .background, .liveactivity, .widgets, .controls: true
    case .location, .voip, .complication, .fileprovider, .mdm, .pushtotalk: false
    }
  }
}
