import Domain
import HTTP2
import HTTPClient
import Loop

/// The HTTP/1.1 requests of one credential over libcurl, at most so many at a time.
final class CurlTransport: Transport {
  weak var owner: (any TransportOwner)?
  private let loop: EventLoop
  private let client: HTTPClient
  private let origin: Origin
  private let maximum: Int
  private let timeout: Int64
  private let pool: PoolSettings
  /// When those at work were sent.
  private var began: [Int: Instant] = [:]
  /// What an answer takes in the mean, in milliseconds.
  private var usual = 0.0
  private var backoff: Backoff
  private var retry: Timer?
  private var closing = false

  init(
    loop: EventLoop, client: HTTPClient, origin: Origin, maximum: Int, timeout: Int64, pool: PoolSettings
  ) {
    self.loop = loop
    self.client = client
    self.origin = origin
    self.maximum = max(1, maximum)
    self.timeout = timeout
    self.pool = pool
    backoff = Backoff(base: pool.reconnectBase, maximum: pool.reconnectMaximum)
  }

  var streams: Int { maximum }
  var connections: Int { began.count }

  func connectionSlot(avoiding: Int?, reserve: Double) -> Int? {
    guard !closing, backoff.mayTry(now: loop.now) else { return nil }
    // One at a time until the peer has been reached again.
    let allowed = backoff.failures > 0 ? 1 : maximum - (maximum > 1 ? Int(Double(maximum) * reserve) : 0)
    if began.count < allowed { return 0 }
    // Nobody waits for those that are not answered in time, each of which has a connection of its own.
    let late = requests(olderThan: patience)
    return began.count - min(late, pool.lateMaximum) < allowed ? 0 : nil
  }

  /// Milliseconds until an answer is late.
  private var patience: Int64 { max(pool.latePatience, Int64(4 * usual)) }
  func requests(olderThan milliseconds: Int64) -> Int { began.values.count { loop.now - $0 > milliseconds } }
  // Each request has a connection of its own.
  func asideSlot(together: Int) -> Int? { connectionSlot(avoiding: nil, reserve: 0) }
  func demandAside(waiting: Int) { demand() }
  func restAside() {}
  func wantsAnother(connectionSlot: Int) -> Bool { false }

  func hurry() { backoff.hurry() }

  func demand() {
    guard !closing, retry == nil else { return }
    // A place is free when the next one is late, if not before.
    let late = began.values.map { $0 + (patience + 1) }.filter { $0 > loop.now }.min()
    let until = backoff.until.flatMap { $0 > loop.now ? $0 : nil } ?? late
    guard let until else { return }
    retry = loop.after(milliseconds: until - loop.now) { [weak self] in
      self?.retry = nil
      self?.owner?.hasRoom()
    }
  }

  func send(_ request: ProviderRequest, tag: Int, connectionSlot: Int) {
    began[tag] = loop.now
    let call = HTTPClientRequest(
      method: request.method, url: "https://\((request.origin ?? origin).authority)\(request.path)",
      headers: request.headers,
      body: request.body, timeout: timeout)
    let hasOwnHost = request.origin != nil
    client.send(call) { [weak self] result in self?.ended(tag, result, hasOwnHost) }
  }

  var takesPrepared: Bool { false }
  func prepare(_ frame: PushFrame) -> PreparedPush? { nil }
  func room(at connectionSlot: Int, reserve: Double) -> Int { 1 }
  func push(_ push: PreparedPush, token: [UInt8], id: UUIDBytes, body: [UInt8], tag: Int, connectionSlot: Int) {
    preconditionFailure("nothing is prepared for HTTP/1.1")
  }

  private func ended(_ tag: Int, _ result: Result<ProviderAnswer, HTTPClientFailure>, _ hasOwnHost: Bool) {
    let took = began.removeValue(forKey: tag).map { loop.now - $0 } ?? 0
    switch result {
    case .success(let answer):
      usual += 0.2 * (Double(took) - usual)
      if !closing, backoff.failures > 0 { owner?.reached() }
      backoff.succeeded()
      owner?.answered(tag, answer)
    case .failure(let failure) where failure.processed:
      owner?.failed(tag, .unknown(failure.reason))
    case .failure(let failure) where failure.isOfRequest:
      owner?.failed(tag, .unsendable(failure.reason))
    case .failure(let failure) where hasOwnHost && !closing:
      owner?.failed(tag, .ownHostUnreachable(failure.reason))
    case .failure(let failure):
      backoff.failed(now: loop.now, jitter: .random(in: 0...1))
      if !closing, backoff.failures == pool.failuresToReport { owner?.unreachable(failure.reason) }
      owner?.failed(tag, .unreachable(failure.reason))
    }
    if !closing { owner?.hasRoom() }
  }

  /// libcurl keeps its connections; a new one cannot be asked for.
  func retire(_ connectionSlot: Int) {}
  func headerChanges(interval milliseconds: Int64) {}

  func drain() { close() }
  var isDone: Bool { began.isEmpty }

  func close() {
    closing = true
    if let retry { loop.cancel(retry) }
  }
}
