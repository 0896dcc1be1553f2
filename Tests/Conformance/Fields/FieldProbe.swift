import Domain
import Intake
import JSON
import Testing

/// Asks the code what becomes of a field: the same message is read and rendered without and with it, and what differs
/// tells.
struct FieldProbe {
  /// What one provider does with a field.
  enum Treatment: Equatable {
    /// It changes these places of the request.
    case carried([String])
    case mapped([String], String)
    case warned(String)
    case refused(String)
    /// The kind leaves no choice.
    case fixed
    /// Somebody else sees to it.
    case unseen(String)
    /// Nothing changes and nobody is told: that must not be.
    case dropped
  }

  private struct Sent {
    var request: ProviderRequest
    var warnings: [RenderWarning]
  }

  let subject: ProviderUnderTest

  /// Nil: Intake refuses the field for this kind, or the provider does not carry the kind.
  func treatment(of sample: FieldSample, in base: JSONValue) throws -> Treatment? {
    let steps = sample.steps
    if steps[0] == "overrides", steps[1] != subject.provider.name.rawValue { return nil }
    var plain = base
    plain = plain.merged(try JSON.parse(Array(sample.context.utf8)))
    var found: Treatment?
    for value in sample.values {
      let changed = plain.setting(steps[...], try JSON.parse(Array(value.utf8)))
      guard let message = Self.read(changed) else { continue }
      guard let reference = Self.read(plain) else { return nil }
      let before: Sent
      do {
        guard let sent = try send(reference.message) else { return nil }
        before = sent
      } catch let fault as RenderFault { return .refused(fault.detail) }
      found = try treatment(of: sample, message, since: before)
      if found != .fixed, found != .dropped { return found }
    }
    return found
  }

  private func treatment(of sample: FieldSample, _ reading: MessageReading, since before: Sent) throws -> Treatment? {
    let after: Sent
    do {
      guard let sent = try send(reading.message) else { return nil }
      after = sent
    } catch let fault as RenderFault { return .refused(fault.detail) }
    let changes = Self.changes(before.request, after.request)
    let told = after.warnings + reading.warnings.map { RenderWarning($0.pointer, $0.detail) }
    let notes = told.filter { warning in
      warning.pointer == sample.pointer || warning.pointer.hasPrefix(sample.pointer + "/")
        || (sample.pointer.hasPrefix(warning.pointer + "/") && !before.warnings.contains(warning))
    }
    let name = subject.provider.name.rawValue + ": "
    if let warning = notes.first(where: { $0.pointer == sample.pointer }), after.warnings.contains(warning) {
      #expect(
        warning.isLeftOut == changes.isEmpty,
        "`\(sample.path)` is \(changes.isEmpty ? "left out" : "mapped"), and the answer says otherwise: \(warning)")
    }
    if let note = notes.first?.note.replacing(name, with: "") {
      return changes.isEmpty ? .warned(note) : .mapped(changes, note)
    }
    if !changes.isEmpty { return .carried(changes) }
    // A part of what is left out as a whole.
    if let whole = told.first(where: { sample.pointer.hasPrefix($0.pointer + "/") }) {
      return .warned(whole.note.replacing(name, with: ""))
    }
    if let note = sample.unseen[subject.provider.name] { return .unseen(note) }
    return sample.fixedIn.contains(reading.message.kind) ? .fixed : .dropped
  }

  /// What is valid but comes later counts as refused.
  private static func read(_ document: JSONValue) -> MessageReading? { try? MessageReader.read(document) }

  static func address(for message: Message, of subject: ProviderUnderTest) -> Address? {
    guard case .channel(let channel) = message.to else { return address(for: message.pushType, of: subject) }
    return channel.provider == subject.provider.name ? channel : nil
  }

  /// The provider's kind of token for this push type; nil if it carries none.
  static func address(for pushType: PushType, of subject: ProviderUnderTest) -> Address? {
    var address = subject.address
    address.liveActivityToken = "80a1f0"
    for kind in pushType.tokenKinds {
      address.tokenKind = kind
      if subject.provider.carries(pushType, to: address) { return address }
    }
    return nil
  }

  private func send(_ message: Message) throws -> Sent? {
    guard let address = Self.address(for: message, of: subject) else { return nil }
    let account = try subject.account()
    let rendering = try account.render(message, startedAt: started)
    let request = account.request(rendering, to: [address], id: someID, authorization: "x")
    return Sent(request: request, warnings: rendering.warnings)
  }

  private static func changes(_ before: ProviderRequest, _ after: ProviderRequest) -> [String] {
    var places: [String] = before.path == after.path ? [] : ["path"]
    let old = Dictionary(uniqueKeysWithValues: before.headers.map { ($0.name, $0.value) })
    let new = Dictionary(uniqueKeysWithValues: after.headers.map { ($0.name, $0.value) })
    for name in Set(old.keys).union(new.keys).sorted() where old[name] != new[name] { places.append("header \(name)") }
    guard let left = try? JSON.parse(before.content), let right = try? JSON.parse(after.content) else { return places }
    return places + differences(left, right, "").sorted()
  }

  private static func differences(_ left: JSONValue?, _ right: JSONValue?, _ place: String) -> [String] {
    if left == right { return [] }
    let (old, new) = (left?.object ?? [], right?.object ?? [])
    guard left?.object != nil || right?.object != nil, !(old.isEmpty && new.isEmpty) else { return [place] }
    let keys = old.map(\.key) + new.map(\.key).filter { key in old[key] == nil }
    return keys.flatMap { differences(old[$0], new[$0], place.isEmpty ? $0 : "\(place).\($0)") }
  }
}

extension JSONValue {
  func merged(_ patch: JSONValue) -> JSONValue {
    var members = object ?? []
    members.merge(patch.object ?? [])
    return .object(members)
  }

  /// With a value at the end of these steps, through objects that are made where there are none.
  func setting(_ steps: ArraySlice<String>, _ value: JSONValue) -> JSONValue {
    guard let step = steps.first else { return value }
    if case .array(var items) = self, let index = Int(step), items.indices.contains(index) {
      items[index] = items[index].setting(steps.dropFirst(), value)
      return .array(items)
    }
    var members = object ?? []
    members.set(step, (members[step] ?? .object([])).setting(steps.dropFirst(), value))
    return .object(members)
  }
}
