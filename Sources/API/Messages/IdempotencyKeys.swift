import Domain
import HTTPServer
import Intake
import Loop
import Store
import TLS

/// A repeat with the same key and body gets the answer of the first request. Belongs to the loop.
final class IdempotencyKeys {
  private static let longest = 255
  /// The answer of a request that is at work is waited for so long.
  static let milliseconds: Int64 = 5_000
  private static let firstWait: Int64 = 5
  private static let longestWait: Int64 = 100

  private let loop: EventLoop
  private let store: Store

  init(loop: EventLoop, store: Store) {
    self.loop = loop
    self.store = store
  }

  /// The key of a request, and what its body is known by.
  static func given(in request: HTTPServerRequest) throws(Problem) -> (key: String, digest: [UInt8])? {
    let given = request.headers.filter { $0.name == "idempotency-key" }
    guard let key = given.first?.value else { return nil }
    guard given.count == 1, isWellFormed(key) else {
      throw Problem(
        header: "Idempotency-Key", .invalidFormat,
        "`Idempotency-Key` must be one value of 1–\(longest) printable ASCII characters")
    }
    return (key, Digest.sha256(request.body))
  }

  /// Refuses a key that a call would ignore: a repeat would do again what its sender holds for done.
  static func checkTaken(_ request: HTTPServerRequest, _ endpoint: Endpoint) throws(Problem) {
    guard endpoint.method == "POST", !endpoint.headers.contains(.idempotencyKey),
      request.header("idempotency-key") != nil
    else { return }
    let fix =
      endpoint.operation == Endpoint.sendMessages
      ? "give each line its own `idempotency_key`" : "send the request without it"
    throw Problem(
      header: "Idempotency-Key", .notAllowed,
      "`Idempotency-Key` has no effect on \(endpoint.method) \(endpoint.path): \(fix)")
  }

  static func isWellFormed(_ key: String) -> Bool {
    (1...longest).contains(key.utf8.count) && key.utf8.allSatisfy { (0x20...0x7e).contains($0) }
  }

  /// What a key stands for. While the first request with it is at work, its answer is waited for: for at most
  /// `milliseconds`, then `.inProgress`.
  func lookUp(_ idempotency: (key: String, digest: [UInt8]), _ app: AppID) async throws(Problem) -> Acceptance? {
    let deadline = loop.now + Self.milliseconds
    var wait = Self.firstWait
    do throws(StoreError) {
      while true {
        let found = try await store.acceptance.lookUp(
          idempotencyKey: idempotency.key, digest: idempotency.digest, app: app)
        guard case .inProgress? = found, loop.now < deadline else { return found }
        await loop.sleep(milliseconds: wait)
        wait = min(2 * wait, Self.longestWait)
      }
    } catch {
      throw Problem(error)
    }
  }
}
