import Domain
import JSON

extension ComposeForm {
  /// The message, and what of the form cannot be read; that is left out of it.
  func message(_ texts: Texts) -> (message: JSONValue, faults: [FieldFault]) {
    var faults: [FieldFault] = []
    var members = object(rest, "json", texts, &faults)
    members.removeAll { $0.key == "name" }
    if !kind.isEmpty { members.put("kind", kind == "alert" ? nil : .string(kind)) }
    write(notification(members["notification"], texts, &faults), "notification", to: &members)
    write(object(data, "data", texts, &faults), "data", to: &members)
    if showsNothing, hasVisibleParts { faults.append(FieldFault(field: "kind", text: texts[.kindHides])) }
    if !variants.isEmpty { members.set("variants", .array(variants(texts, &faults))) }
    members.set("holdout", share(holdout, "holdout", texts, &faults) ?? members["holdout"])
    if !audience.isEmpty { members.set("to", .object([JSONMember("audience", .string(audience))])) }
    if !reach.isEmpty { members.put("reach", reach == Self.allDevices ? nil : .string(reach)) }
    writeTime(to: &members, texts, &faults)
    members.set("rate_per_second", whole(perSecond, "per_second", texts, &faults) ?? members["rate_per_second"])
    members.set("ttl", whole(ttl, "ttl", texts, &faults) ?? members["ttl"])
    writeQuietHours(to: &members)
    writeCap(to: &members, texts, &faults)
    if !collapseKey.isEmpty { members.set("collapse_key", collapseKey) }
    return (.object(members), faults)
  }

  /// The form hides what only an alert has.
  private var showsNothing: Bool { kind != "alert" && !kind.isEmpty }
  /// Somebody has written what would not be sent.
  private var hasVisibleParts: Bool {
    words.contains { !$0.isEmpty } || !buttons.isEmpty || !variants.isEmpty
      || !(image + link + sound + badge + holdout).isEmpty
  }

  /// The body of a draft.
  func draft(_ texts: Texts) -> (body: JSONValue, faults: [FieldFault]) {
    let (message, faults) = message(texts)
    var members: [JSONMember] = []
    if !name.trimmed.isEmpty { members.set("name", name.trimmed) }
    members.set("message", message)
    return (.object(members), faults)
  }

  // MARK: Parts

  private func write(_ value: [JSONMember], _ key: String, to members: inout [JSONMember]) {
    if !value.isEmpty { members.set(key, .object(value)) }
  }

  /// What an alert shows; of another kind only what stands in the JSON.
  private func notification(_ known: JSONValue?, _ texts: Texts, _ faults: inout [FieldFault]) -> [JSONMember] {
    var members = known?.object ?? []
    guard !showsNothing else { return members }
    words[0].write(to: &members)
    var localized = members["localized"]?.object ?? []
    for (place, own) in words.enumerated().dropFirst() {
      guard !own.language.isEmpty, !words[..<place].contains(where: { $0.language == own.language }) else {
        let word: Word = own.language.isEmpty ? .languageMissing : .languageTwice
        faults.append(FieldFault(field: "lang.\(place)", text: texts[word]))
        continue
      }
      var one: [JSONMember] = localized[own.language]?.object ?? []
      own.write(to: &one)
      localized.set(own.language, .object(one))
    }
    write(localized, "localized", to: &members)
    for (key, text) in [("image", image), ("link", link)] where !text.isEmpty { members.set(key, text) }
    if !buttons.isEmpty {
      let all = buttons.enumerated().map { place, button in
        var one = [JSONMember("id", .string(button.id.isEmpty ? "button\(place + 1)" : button.id))]
        one.set("text", button.title)
        if !button.link.isEmpty { one.set("url", button.link) }
        return JSONValue.object(one)
      }
      members.set("buttons", .array(all))
    }
    if !sound.isEmpty { members.set("sound", sound) }
    members.set("badge", whole(badge, "badge", texts, &faults) ?? members["badge"])
    return members
  }

  private func variants(_ texts: Texts, _ faults: inout [FieldFault]) -> [JSONValue] {
    variants.enumerated().map { place, variant in
      var one: [JSONMember] = []
      one.set("name", variant.name)
      one.set("weight", share(variant.share, "variant.\(place).share", texts, &faults))
      var notification: [JSONMember] = []
      for (key, text) in [("title", variant.title), ("body", variant.body)] where !text.isEmpty {
        notification.set(key, text)
      }
      write(notification, "notification", to: &one)
      return .object(one)
    }
  }

  private func writeTime(to members: inout [JSONMember], _ texts: Texts, _ faults: inout [FieldFault]) {
    guard time != .now else {
      // What is shown as "now" goes now.
      if members["send_at"] != nil || members["send_at_local"] != nil {
        faults.append(FieldFault(field: "json", text: texts[.timeBelow]))
      }
      return
    }
    members.removeAll { ["send_at", "send_at_local"].contains($0.key) }
    guard !at.isEmpty else {
      faults.append(FieldFault(field: "at", text: texts[.timeMissing]))
      return
    }
    // Browsers leave out the seconds where there are none.
    let clock = at.utf8.count == 16 ? at + ":00" : at
    members.set(time == .at ? "send_at" : "send_at_local", time == .at ? clock + offset : clock)
  }

  private func writeQuietHours(to members: inout [JSONMember]) {
    switch quiet {
    case .app: break
    case .none: members.set("quiet_hours", .bool(false))
    case .own:
      var hours: [JSONMember] = members["quiet_hours"]?.object ?? []
      hours.set("from", quietFrom)
      hours.set("to", quietTo)
      hours.put("else", quietElse == "skip" ? .string("skip") : nil)
      members.set("quiet_hours", .object(hours))
    }
  }

  private func writeCap(to members: inout [JSONMember], _ texts: Texts, _ faults: inout [FieldFault]) {
    // A topic says nothing without a cap.
    guard isCapped else { return }
    if !topic.isEmpty { members.set("topic", topic) }
    var cap: [JSONMember] = []
    cap.set("max", whole(capMaximum, "cap_max", texts, &faults))
    cap.set("per", capPeriod)
    members.set("cap", .object(cap))
  }

  // MARK: What was typed

  /// Empty where nothing was typed.
  private func object(_ text: String, _ field: String, _ texts: Texts, _ faults: inout [FieldFault]) -> [JSONMember] {
    guard !text.trimmed.isEmpty else { return [] }
    do throws(JSONFault) {
      if let members = try JSON.parse(Array(text.utf8), maximumDepth: 24).object { return members }
      faults.append(FieldFault(field: field, text: texts[.noObject]))
    } catch {
      faults.append(FieldFault(field: field, text: texts(.noJSON, error.detail)))
    }
    return []
  }

  private func whole(_ text: String, _ field: String, _ texts: Texts, _ faults: inout [FieldFault]) -> JSONValue? {
    guard !text.isEmpty else { return nil }
    guard let number = Whole.read(text, in: 0...Int(Int32.max)) else {
      faults.append(FieldFault(field: field, text: texts(.noWholeNumber, text)))
      return nil
    }
    return .integer(Int64(number))
  }

  /// `33.3`, or as people write it elsewhere, `33,3`.
  private func share(_ text: String, _ field: String, _ texts: Texts, _ faults: inout [FieldFault]) -> JSONValue? {
    guard !text.isEmpty else { return nil }
    let plain = text.replacing(",", with: ".")
    guard plain.utf8.count <= 12, plain.utf8.allSatisfy({ $0 == 0x2e || (0x30...0x39).contains($0) }),
      let number = Double(plain)
    else {
      faults.append(FieldFault(field: field, text: texts(.noShare, text)))
      return nil
    }
    return Int64(exactly: number).map { .integer($0) } ?? .double(number)
  }
}

extension ComposeForm.Words {
  fileprivate func write(to members: inout [JSONMember]) {
    for (key, text) in [("title", title), ("subtitle", subtitle), ("body", body)] where !text.isEmpty {
      members.set(key, text)
    }
  }
}
