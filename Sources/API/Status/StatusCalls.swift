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
  private var last: (at: Instant, found: Result<GatewayStatus, StoreError>)?
  private let reading = SharedWork<Result<GatewayStatus, StoreError>>()

  /// Milliseconds for which an answer is kept: many who watch ask Redis once.
  static let kept: Int64 = 1_000

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
    if let last, loop.now - last.at < Self.kept { return last.found }
    return await reading.value { [self] in
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
      last = (loop.now, found)
      return found
    }
  }
}
