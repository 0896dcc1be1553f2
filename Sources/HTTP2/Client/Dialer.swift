import Domain
import Loop
import TLS

/// Opens a channel to an origin: asks the resolver anew, then tries the addresses in turn, each with its share of the time
/// that is left. Calls `done` once on the loop, unless cancelled.
final class Dialer: SecureChannelOwner {
  private let loop: EventLoop
  private let origin: Origin
  private let tls: TLSContext
  private let deadline: Instant
  private let done: (Result<SecureChannel, Failure>) -> Void
  private var addresses: ArraySlice<SocketAddress> = []
  private var channel: SecureChannel?
  private var attemptTimer: Timer?
  private var reasons: [String] = []
  private var finished = false

  struct Failure: Error { let reason: String }

  init(
    loop: EventLoop, origin: Origin, tls: TLSContext, deadline: Instant,
    done: @escaping (Result<SecureChannel, Failure>) -> Void
  ) {
    self.loop = loop
    self.origin = origin
    self.tls = tls
    self.deadline = deadline
    self.done = done
  }

  func dial() {
    loop.resolve(host: origin.host, port: origin.port) { [weak self] result in
      guard let self, !finished else { return }
      switch result {
      case .success(let found):
        addresses = found[...]
        tryNext()
      case .failure(let failure): finish(.failure(Failure(reason: "\(origin.host): \(failure.reason)")))
      }
    }
  }

  func cancel() {
    finished = true
    channel?.close()
    stopTimer()
  }

  private func tryNext() {
    guard let address = addresses.popFirst() else {
      let reason = reasons.isEmpty ? "the name has no address" : reasons.joined(separator: "; ")
      return finish(.failure(Failure(reason: "\(origin.authority): \(reason)")))
    }
    let share = max(1, (deadline - loop.now) / Int64(addresses.count + 1))
    do {
      let socket = try Socket.connect(to: address)
      let session = try TLSSession(client: tls, host: origin.host, fd: socket.fd)
      let channel = SecureChannel(loop: loop, socket: socket, session: .tls(session), connecting: true)
      self.channel = channel
      channel.start(owner: self)
    } catch let failure as SocketFailure {
      return failed(failure.reason)
    } catch let failure as TLSFault {
      return failed(failure.reason)
    } catch { preconditionFailure("no other error is thrown") }
    attemptTimer = loop.after(milliseconds: share) { [weak self] in
      guard let self else { return }
      channel?.close()
      failed("no connection in \(share) ms")
    }
  }

  private func failed(_ reason: String) {
    stopTimer()
    channel = nil
    if !reasons.contains(reason) { reasons.append(reason) }
    tryNext()
  }

  private func finish(_ result: Result<SecureChannel, Failure>) {
    stopTimer()
    channel = nil
    finished = true
    done(result)
  }

  private func stopTimer() {
    if let attemptTimer { loop.cancel(attemptTimer) }
    attemptTimer = nil
  }

  func channelOpened(_ channel: SecureChannel) { finish(.success(channel)) }
  func channelEnded(_ reason: String?) { failed(reason ?? "the peer closed the connection") }
  func channelReceived(_ bytes: UnsafeRawBufferPointer) {}
  func channelSettled() {}
  func channelFills() {}
}
