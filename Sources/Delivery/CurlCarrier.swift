import Domain
import HTTP2
import HTTPClient
import Loop

/// The HTTP/1.1 requests of one credential over libcurl, at most so many at a time.
final class CurlCarrier: Carrier {
  weak var owner: (any CarrierOwner)?
  private let loop: EventLoop
  private let client: HTTPClient
  private let origin: Origin
  private let maximum: Int
  private let timeout: Int64
  private let pool: PoolSettings
  private var atWork = 0
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
  var connections: Int { atWork }

  func berth(avoiding: Int?, reserve: Double) -> Int? {
    guard !closing, backoff.mayTry(now: loop.now) else { return nil }
    // One at a time until the peer has been reached again.
    let allowed = backoff.failures > 0 ? 1 : maximum - (maximum > 1 ? Int(Double(maximum) * reserve) : 0)
    return atWork < allowed ? 0 : nil
  }

  func demand() {
    guard !closing, retry == nil, let until = backoff.until, until > loop.now else { return }
    retry = loop.after(milliseconds: until - loop.now) { [weak self] in
      self?.retry = nil
      self?.owner?.hasRoom()
    }
  }

  func send(_ request: ProviderRequest, tag: Int, berth: Int) {
    atWork += 1
    let call = HTTPClientRequest(
      method: request.method, url: "https://\(origin.authority)\(request.path)", headers: request.headers,
      body: request.body, timeout: timeout)
    client.send(call) { [weak self] result in self?.ended(tag, result) }
  }

  var takesPrepared: Bool { false }
  func prepare(_ frame: PushFrame) -> PreparedPush? { nil }
  func room(at berth: Int, reserve: Double) -> Int { 1 }
  func push(_ push: PreparedPush, token: [UInt8], id: UUIDBytes, body: [UInt8], tag: Int, berth: Int) {
    preconditionFailure("nothing is prepared for HTTP/1.1")
  }

  private func ended(_ tag: Int, _ result: Result<ProviderAnswer, HTTPClientFailure>) {
    atWork -= 1
    switch result {
    case .success(let answer):
      if !closing, backoff.failures > 0 { owner?.reached() }
      backoff.succeeded()
      owner?.answered(tag, answer)
    case .failure(let failure) where failure.processed:
      owner?.failed(tag, .unknown(failure.reason))
    case .failure(let failure):
      backoff.failed(now: loop.now, jitter: .random(in: 0...1))
      if !closing, backoff.failures == pool.failuresToReport { owner?.unreachable(failure.reason) }
      owner?.failed(tag, .unreachable(failure.reason))
    }
    if !closing { owner?.hasRoom() }
  }

  /// libcurl keeps its connections; a new one cannot be asked for.
  func retire(_ berth: Int) {}

  func drain() { close() }
  var isDone: Bool { atWork == 0 }

  func close() {
    closing = true
    if let retry { loop.cancel(retry) }
  }
}
