import Audience
import Domain
import Intake
import JSON
import Loop
import Store

/// Audiences: expressions that devices fit, now or when the message starts.
extension RecipientResolver {
  /// Partitions that are asked for members at a time.
  private static let partitionsAbreast = 16

  /// Aims a message. A small audience becomes a list of its devices, an empty one a list of none: never everybody.
  /// `keepsDevices`: something of the message depends on what is registered of each target.
  func resolve(
    _ message: Message, _ call: Call, document: JSONValue, keepsDevices: Bool, owners: OwnerLookup = .lookedUp
  ) async throws(Problem) -> ResolvedRecipients {
    guard let (expression, pointer) = try expression(of: message, document) else {
      let listed = try await resolveListed(message, call.app, keepsDevices: keepsDevices, owners: owners)
      listed.firstStart = firstStart(of: message, listed, call)
      return listed
    }
    let text = document["to"]?["audience"]?.string
    let resolved = try await audiences.writtenOut(expression, call, at: pointer, text: text, .invalidMessage)
    let recipients = try await resolve(message, resolved, call, at: pointer, text: text)
    if !expression.names.isEmpty { recipients.expression = resolved.canonical }
    return recipients
  }

  /// `resolved`: without named audiences.
  private func resolve(
    _ message: Message, _ resolved: AudienceExpression, _ call: Call, at pointer: String, text: String?
  ) async throws(Problem) -> ResolvedRecipients {
    let resolver = configuration.resolver(try configuration.tenant(call.app), message)
    if message.oneSignalTargeting == .provider {
      return try countedByProvider(resolved, resolver, at: pointer, text: text)
    }

    let selection = AudienceSelection(expression: resolved, reach: message.reach)
    let count: AudienceCount
    do throws(StoreError) {
      count = try await store.audiences.count(selection, app: call.app, now: call.now, carries: resolver.carries)
    } catch {
      throw Problem(error)
    }
    let hints = await self.hints.notices(of: count, resolved, call, at: pointer)
    let first = try await firstStart(of: message, selection, resolver, call)
    if Schedule(message, first: first, now: call.now) != nil {
      let recipients = later(count, selection, message, counts(of: count, resolver), at: pointer)
      recipients.firstStart = first
      recipients.warnings += hints
      return recipients
    }
    guard count.total > urgentTargets else {
      let devices = try await members(selection, resolver, call, partitions: count.byPartition.keys.sorted())
      let recipients = ResolvedRecipients(targets: devices.map(resolver.target), devices: devices)
      if devices.isEmpty {
        recipients.warnings.append(
          Notice(
            pointer: pointer, code: "no_recipients",
            detail: "no device is in this audience now: nobody gets the message"))
      }
      recipients.warnings += hints
      return recipients
    }
    let audience = SubmissionAudience(
      expression: resolved.canonical, reach: message.reach, counts: count.byPartition)
    let recipients = ResolvedRecipients(
      audience: audience, selection, count, countsByCredential: counts(of: count, resolver))
    recipients.warnings += hints
    return recipients
  }

  /// Who will be in it is decided when it starts: every partition gets a part.
  private func later(
    _ count: AudienceCount, _ selection: AudienceSelection, _ message: Message, _ byCredential: [CredentialID: Int],
    at pointer: String
  ) -> ResolvedRecipients {
    var counts = count.byPartition
    for partition in 0..<store.session.settings.partitions { counts[partition, default: 0] += 0 }
    let recipients = ResolvedRecipients(
      audience: SubmissionAudience(expression: selection.expression.canonical, reach: message.reach, counts: counts),
      selection, count, countsByCredential: byCredential)
    if count.total == 0 {
      recipients.warnings.append(
        Notice(
          pointer: pointer, code: "no_recipients",
          detail: "no device is in this audience now: devices that are in it when the message starts get the message"))
    }
    return recipients
  }

  /// The audience's expression, as it was written, and where; nil for other recipients.
  func expression(of message: Message, _ document: JSONValue) throws(Problem)
    -> (expression: AudienceExpression, pointer: String)?
  {
    switch message.to {
    case .devices, .users, .tokens, .channel: return nil
    case .everyone: return (.everyone, "/to/everyone")
    case .audience(let canonical):
      let to = document["to"]
      let pointer = to?["filters"] != nil ? "/to/filters" : to?["activity"] != nil ? "/to/activity" : "/to/audience"
      do throws(AudienceFault) {
        return (try AudienceExpression(parsing: canonical), pointer)
      } catch {
        throw Problem(Refusal(violations: [Violation(pointer, error)]), .invalidMessage)
      }
    }
  }

  /// OneSignal finds its subscribers itself: one delivery for all of them. `text`: as in `writtenOut`.
  private func countedByProvider(
    _ expression: AudienceExpression, _ resolver: RouteResolver, at pointer: String, text: String?
  ) throws(Problem)
    -> ResolvedRecipients
  {
    let filters: [JSONValue]
    do throws(AudienceFault) {
      filters = try expression.oneSignalFilters()
    } catch {
      var column: Int?
      if case .term(let term) = error.place { column = text.flatMap { AudienceExpression.column(of: term, in: $0) } }
      throw Problem(Refusal(violations: [Violation(pointer, error, column: column)]), .invalidMessage)
    }
    let token = String(decoding: JSONValue.array(filters).encoded, as: UTF8.self)
    let address = Address(provider: .oneSignal, token: token, tokenKind: .subscribers)
    let recipients = ResolvedRecipients(targets: [resolver.target(address)])
    recipients.warnings.append(
      Notice(
        pointer: "/onesignal_targeting", code: "counted_by_provider",
        detail: "OneSignal selects and counts the devices: for Fanfare the whole audience is one delivery"))
    return recipients
  }

  /// Of each route that the audience has members in, the first device: enough to show what would be sent.
  func sampleMembers(of audience: SubmissionAudience, _ message: Message, _ call: Call) async throws(Problem)
    -> [SubmissionTarget]
  {
    guard let expression = try? AudienceExpression(parsing: audience.expression) else { return [] }
    let selection = AudienceSelection(expression: expression, reach: audience.reach)
    let resolver = configuration.resolver(try configuration.tenant(call.app), message)
    var seen: Set<RouteClass> = []
    var targets: [SubmissionTarget] = []
    do throws(StoreError) {
      for partition in audience.counts.keys.sorted() {
        let groups = try await store.audiences.members(
          selection, app: call.app, partition: partition, now: call.now, carries: resolver.carries)
        let first = groups.filter { !$0.numbers.isEmpty && seen.insert($0.route).inserted }.map { Int($0.numbers[0]) }
        let devices = try await store.records.devices(
          numbers: first, partition: partition, app: call.app, bornBefore: nil)
        targets += devices.compactMap { $0.map(resolver.target) }
      }
    } catch {
      throw Problem(error)
    }
    return targets
  }

  /// The devices of the audience in these partitions, those that went meanwhile left out. `sample`: of each partition
  /// only so many, evenly spread over those that the message can go to.
  func members(
    _ selection: AudienceSelection, _ resolver: RouteResolver, _ call: Call, partitions: [Int], sample: Int? = nil
  ) async throws(Problem) -> [StoredDevice] {
    let found = Members(count: partitions.count)
    await loop.abreast(partitions.count, width: Self.partitionsAbreast) { [store] index in
      guard found.error == nil else { return }
      do throws(StoreError) {
        let groups = try await store.audiences.members(
          selection, app: call.app, partition: partitions[index], now: call.now, carries: resolver.carries)
        let chosen = sample == nil ? groups : groups.filter { resolver.carries($0.route.address) }
        var numbers = chosen.flatMap(\.numbers).map(Int.init).sorted()
        if let sample, numbers.count > sample {
          numbers = (0..<sample).map { numbers[$0 * numbers.count / sample] }
        }
        found.devices[index] = try await store.records.devices(
          numbers: numbers, partition: partitions[index], app: call.app, bornBefore: nil
        ).compactMap { $0 }
      } catch {
        found.error = error
      }
    }
    if let error = found.error { throw Problem(error) }
    return found.devices.flatMap { $0 }
  }

  /// The accounts that some of the members go through: no other has a say in whether the message is refused.
  private func counts(of count: AudienceCount, _ resolver: RouteResolver) -> [CredentialID: Int] {
    var found: [CredentialID: Int] = [:]
    for (route, members) in count.byRoute {
      if case .queue(let credential) = resolver.route(of: route.address) { found[credential, default: 0] += members }
    }
    return found
  }
}

/// What parallel look-ups found, on the loop.
private final class Members {
  var devices: [[StoredDevice]]
  var error: StoreError?
  init(count: Int) { devices = Array(repeating: [], count: count) }
}
