import Domain
import HTTPServer
import Loop
import Store

/// `/v1/status`: how the credentials of an app are, and for administrators how the gateway is. Belongs to the loop.
final class StatusCalls {
  private let loop: EventLoop
  private let store: Store
  private let configuration: AdoptedConfiguration
  /// No key is told of the gateway: `listen.operations` is `monitor`.
  private let hidesGateway: Bool
  /// What Redis told last, of the whole gateway, or that it could not.
  private var last: (until: Instant, found: Result<GatewayStatus, StoreError>)?
  private let reading = SharedWork<Result<GatewayStatus, StoreError>>()

  /// Milliseconds for which an answer is kept that took so many to make: many who watch ask Redis once, and never take
  /// more than a twentieth of the time, be the partitions as many as they may. At most a minute; a failure may end at once.
  static func life(took: Int64, isFailure: Bool) -> Int64 { isFailure ? 1_000 : min(max(1_000, took * 20), 60_000) }

  init(loop: EventLoop, store: Store, configuration: AdoptedConfiguration, hidesGateway: Bool) {
    (self.loop, self.store) = (loop, store)
    (self.configuration, self.hidesGateway) = (configuration, hidesGateway)
  }

  func readStatus(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let status: GatewayStatus
    do throws(StoreError) { status = try await latest().get() } catch { throw Problem(error) }
    // What is kept is everybody's; what is told is for this key alone.
    let seen = status.seen(by: call.app, gateway: call.may(.admin) && !hidesGateway)
    return Answer.json { seen.write(to: &$0) }
  }

  private func latest() async -> Result<GatewayStatus, StoreError> {
    if let last, loop.now < last.until { return last.found }
    return await reading.value { [self] in
      let began = loop.now
      let found: Result<GatewayStatus, StoreError>
      do throws(StoreError) {
        found = .success(
          try await GatewayStatus(
            store, known: configuration.accounts.mapValues(\.facts),
            replicas: configuration.apps.values.map(\.replicas).max() ?? 0,
            faults: [configuration.refusal, configuration.certificateRefusal].compactMap { $0 }, now: loop.wallNow))
      } catch {
        found = .failure(error)
      }
      last = (loop.now + Self.life(took: loop.now - began, isFailure: found.isFailure), found)
      return found
    }
  }
}

extension Result {
  /// Nothing was found.
  var isFailure: Bool { if case .failure = self { true } else { false } }
}
