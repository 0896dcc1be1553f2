import Domain
import Store

/// When the first device gets a message that goes by each device's own clock.
extension RecipientResolver {
  private func timing(of message: Message, _ call: Call) -> Timing? {
    guard case .local? = message.sendAt else { return nil }
    return Timing(message, configuration.apps[call.app]?.clock ?? AppClock(), zones)
  }

  private func first(_ timing: Timing, of zones: Set<String?>, _ message: Message, _ call: Call) -> FirstStart {
    timing.first(of: zones, life: max(Int64(message.ttl) * 1_000, Message.atOnce), now: call.now)
  }

  /// Of recipients whose devices are at hand.
  func firstStart(of message: Message, _ recipients: ResolvedRecipients, _ call: Call) -> FirstStart? {
    guard let timing = timing(of: message, call) else { return nil }
    let devices = zip(recipients.targets, recipients.devices).filter(\.0.route.isQueued)
    return first(
      timing, of: Set(devices.map { $0.registered ? $1?.device.facts.timeZone : nil }), message, call)
  }

  /// Of an audience, by the zones that its devices have told.
  func firstStart(
    of message: Message, _ selection: AudienceSelection, _ resolver: RouteResolver, _ call: Call
  ) async throws(Problem) -> FirstStart? {
    guard let timing = timing(of: message, call) else { return nil }
    do throws(StoreError) {
      let zones = try await store.audiences.zones(selection, app: call.app, now: call.now, carries: resolver.carries)
      return first(timing, of: zones, message, call)
    } catch {
      throw Problem(error)
    }
  }

  /// Of a message that waits, as it is to be from now on.
  func firstStart(of message: Message, stored id: MessageID, _ call: Call) async throws(Problem) -> FirstStart? {
    guard let timing = timing(of: message, call) else { return nil }
    let resolver = configuration.resolver(try configuration.tenant(call.app), message)
    do throws(StoreError) {
      let zones = try await store.schedule.zones(of: id, now: call.now, carries: resolver.carries)
      return zones.map { first(timing, of: $0, message, call) }
    } catch {
      throw Problem(error)
    }
  }
}
