import Domain

/// The latest messages to all devices of a user, as one list.
struct UserTimeline {
  /// Devices that are asked for, and messages to each.
  private static let (mostDevices, mostEvents) = (10, 10)

  private var events: [DeviceEvents.Event] = []
  /// There are more devices, or more messages.
  private var isPartial: Bool
  private var problem: ToldProblem?

  init(of devices: [JSONValue], _ visitor: Visitor) async {
    let ids = devices.compactMap { $0["id"]?.string }
    isPartial = ids.count > Self.mostDevices
    var timelines: [(device: String, events: [JSONValue])] = []
    for id in ids.prefix(Self.mostDevices) {
      switch await visitor.get("v1", "devices", id, "timeline", query: [("limit", String(Self.mostEvents))]) {
      case .success(let page):
        timelines.append((id, page["items"]?.array ?? []))
        if page["next_cursor"]?.string != nil { isPartial = true }
      // Deleted meanwhile.
      case .failure(let refusal) where refusal.isAbsence: continue
      case .failure(let refusal): problem = refusal
      }
      // The others would be refused as well.
      if problem != nil { break }
    }
    events = DeviceEvents.merged(timelines)
  }

  func write(_ texts: Texts, _ html: inout HTML) {
    html.section("timeline", texts[.userTimeline]) { html in
      if let problem { html.element("p", [.class("notice"), .data(.state, "failed")]) { $0.told(problem.detail) } }
      if !events.isEmpty {
        DeviceEvents(texts: texts).list(events, &html)
      } else if problem == nil {
        html.element("p", [.class("empty")], texts[isPartial ? .userTimelineGoesOn : .userTimelineEmpty])
      }
      if isPartial {
        html.element(
          "p", [.class("quiet")],
          texts(.userTimelinePart, texts.number(Self.mostEvents), texts.number(Self.mostDevices)))
      }
    }
  }
}
