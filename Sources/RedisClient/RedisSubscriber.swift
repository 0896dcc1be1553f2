import Domain
package import Loop

/// Hears channels over a connection of its own, and again after each reconnect. Messages sent meanwhile are gone: after
/// `reconnected` look at what they would have told. Loop thread only.
package final class RedisSubscriber {
  /// What a subscriber hears, on the loop, in the order in which it came.
  package enum Event: Sendable {
    case message(channel: String, payload: [UInt8])
    /// Subscribed to everything, for the first time or again.
    case reconnected
  }

  private let loop: EventLoop
  private let endpoint: RedisEndpoint
  private let channels: [String]
  private let event: (Event) -> Void
  private let link: RedisLink
  private var subscribed = 0
  private var heard = true
  private var pulse: Timer?

  /// An idle connection is asked for a sign of life that often, and given up when none came by the next time.
  private static let pulseMilliseconds: Int64 = 5_000

  /// Connects at once. `event` is called on the loop for as long as the subscriber lives and is not closed.
  package init(
    loop: EventLoop, endpoint: RedisEndpoint, settings: RedisSettings = RedisSettings(), channels: [String],
    _ event: @escaping (Event) -> Void
  ) {
    self.loop = loop
    self.endpoint = endpoint
    self.channels = channels
    self.event = event
    link = RedisLink(loop: loop, endpoint: endpoint, settings: settings)
    link.onUp = { [weak self] in self?.subscribe() }
    link.onReply = { [weak self] in self?.answered($0) }
    link.onDown = { [weak self] in self?.stopPulse() }
    link.connect()
  }

  /// Nothing is heard afterwards. Call it before the last reference goes.
  package func close() {
    link.close()
    stopPulse()
  }

  private func subscribe() {
    subscribed = 0
    heard = true
    if let password = endpoint.password {
      _ = link.send(RedisCommand(words: ["AUTH"] + (endpoint.username.map { [$0] } ?? []) + [password]))
    }
    _ = link.send(RedisCommand(words: ["SUBSCRIBE"] + channels))
    beat()
  }

  private func beat() {
    pulse = loop.after(milliseconds: Self.pulseMilliseconds) { [weak self] in
      guard let self, link.isUp else { return }
      guard heard else { return link.restart() }
      heard = false
      _ = link.send(RedisCommand("PING"))
      beat()
    }
  }

  private func stopPulse() {
    if let pulse { loop.cancel(pulse) }
    pulse = nil
  }

  private func answered(_ reply: RedisReply) {
    heard = true
    if case .error = reply { return link.restart() }
    guard let parts = reply.array, let kind = parts.first?.text else { return }
    switch kind {
    case "subscribe":
      subscribed += 1
      guard subscribed == channels.count else { return }
      link.settled()
      event(.reconnected)
    case "message":
      guard parts.count == 3, let channel = parts[1].text, let payload = parts[2].bytes else { return }
      event(.message(channel: channel, payload: payload))
    default: break
    }
  }
}
