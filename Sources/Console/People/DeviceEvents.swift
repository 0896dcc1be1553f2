import Domain

/// Messages that were aimed at devices, and what became of each there.
struct DeviceEvents {
  let texts: Texts

  /// One message to one device.
  struct Event {
    /// Nil: the page is about it.
    var device: String?
    var value: JSONValue

    /// Nil: it has none that can be read.
    var time: WallTime? { value["accepted_at"]?.string.flatMap { WallTime(rfc3339: $0) } }

    /// It was taken, but of its attempts nothing is kept.
    var lacksReceipt: Bool {
      value["to"]?.string == "audience" && value["state"]?.string == "accepted"
        && (value["attempts"]?.array ?? []).isEmpty && (value["attempts_omitted"]?.integer ?? 0) == 0
    }
  }

  /// Of several devices by time, newest first; those of the same time as they were given, those without one last.
  static func merged(_ timelines: [(device: String, events: [JSONValue])]) -> [Event] {
    let all = timelines.flatMap { timeline in timeline.events.map { Event(device: timeline.device, value: $0) } }
    let sorted = all.map { (event: $0, time: $0.time?.milliseconds ?? .min) }.enumerated().sorted { left, right in
      left.element.time == right.element.time
        ? left.offset < right.offset : left.element.time > right.element.time
    }
    return sorted.map(\.element.event)
  }

  func list(_ events: [Event], _ html: inout HTML) {
    html.element("ol", [.class("timeline")]) { html in
      for event in events {
        html.element("li") { html in
          html.time(event.value["accepted_at"]?.string)
          html.element("div") { html in self.event(event, &html) }
        }
      }
    }
    if events.contains(where: \.lacksReceipt) {
      html.element("p", [.class("quiet")]) { $0.told(texts[.receiptsOnly]) }
    }
  }

  private func event(_ event: Event, _ html: inout HTML) {
    let (device, event) = (event.device, event.value)
    html.element("p") { html in
      html.state(event["state"]?.string ?? "", texts)
      html.text(" · ")
      let name = event["name"]?.string ?? ""
      html.element(
        "a", [.href(Link("campaigns", event["message"]?.string ?? ""))], name.isEmpty ? texts[.untitled] : name)
      let words = [
        event["kind"]?.string.map { texts.word(KindWords.all, $0) }, event["provider"]?.string,
        event["variant"]?.string,
      ]
      for word in words.compactMap({ $0 }) where !word.isEmpty { html.text(" · " + word) }
      guard let device else { return }
      html.text(" · " + texts[.device] + " ")
      html.element("a", [.href(Link("devices", device))], device)
    }
    if let reason = event["reason"]?.string {
      html.element("p") { html in
        html.text(texts[.whyNot] + ": ")
        if let known = ReasonTexts.of(reason) { html.text(texts[known.word] + " ") }
        html.element("q", [.class("answer")], reason)
      }
    }
    if let next = event["next_attempt_at"]?.string {
      html.element("p") { html in
        html.text(texts[.nextAttempt] + " ")
        html.time(next)
      }
    }
    attempts(event["attempts"]?.array ?? [], Int(clamping: event["attempts_omitted"]?.integer ?? 0), &html)
  }

  private func attempts(_ attempts: [JSONValue], _ omitted: Int, _ html: inout HTML) {
    guard !attempts.isEmpty else { return }
    html.element("details") { html in
      html.element("summary", texts[.attempts] + ": " + texts.number(attempts.count &+ omitted))
      html.element("ol") { html in
        for attempt in attempts {
          html.element("li") { html in
            html.time(attempt["attempted_at"]?.string)
            html.text(" ")
            let words = [
              attempt["verdict"]?.string, attempt["http_status"]?.integer.map { String($0) }, attempt["reason"]?.string,
            ]
            html.element("q", [.class("answer")], words.compactMap { $0 }.joined(separator: " "))
          }
        }
      }
    }
  }
}
