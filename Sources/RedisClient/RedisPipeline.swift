/// Commands on their way that are answered together. Loop thread only.
package final class RedisPipeline {
  private var gathered: [RedisReply] = []
  /// And one more until it is closed.
  private var missing = 1
  private var fault: RedisFault?
  private var waiter: UnsafeContinuation<Void, Never>?

  /// Of commands.
  package var count: Int { gathered.count }

  /// In order; throws the first fault. To be asked for once.
  package func replies() async throws(RedisFault) -> [RedisReply] {
    if missing > 0 { await withUnsafeContinuation { waiter = $0 } }
    if let fault { throw fault }
    return gathered
  }

  /// Takes the answer to one more command.
  func expect() -> (Result<RedisReply, RedisFault>) -> Void {
    let place = gathered.count
    gathered.append(.null)
    missing += 1
    return { [self] result in
      switch result {
      case .success(let reply): gathered[place] = reply
      case .failure(let failure): fault = fault ?? failure
      }
      close()
    }
  }
  /// No more are expected.
  func close() {
    missing -= 1
    if missing == 0 { waiter?.resume() }
  }
}
