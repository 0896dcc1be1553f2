import Domain
import Loop
import Store

/// The messages of the deliveries in memory, and a few more. Loop-owned.
final class KeptMessages {
  private var known: [MessageID: LoadedMessage] = [:]
  /// Without deliveries in memory, oldest first.
  private var idle = FIFO<MessageID>()
  private let idleLimit: Int

  init(idleLimit: Int) { self.idleLimit = idleLimit }

  subscript(_ id: MessageID) -> LoadedMessage? { known[id] }
  var all: some Collection<LoadedMessage> { known.values }

  func keep(_ message: LoadedMessage) {
    known[message.id] = message
    rest(message)
  }

  func forgetAll() { known = [:] }

  /// More deliveries of it are in memory.
  func used(_ message: LoadedMessage, _ count: Int) {
    let message = message.origin ?? message
    message.users += count
    if known[message.id] == nil { known[message.id] = message }
  }

  func released(_ message: LoadedMessage, _ count: Int) {
    let message = message.origin ?? message
    message.users -= count
    precondition(message.users >= 0, "more deliveries left memory than came")
    if message.users == 0 { rest(message) }
  }

  /// Idle ones are forgotten from the oldest; one that is used again meanwhile stays.
  private func rest(_ message: LoadedMessage) {
    idle.append(message.id)
    while idle.count > idleLimit, let oldest = idle.popFirst() {
      guard let message = known[oldest], message.users == 0 else { continue }
      message.forgetLater()
      known[oldest] = nil
    }
  }
}

/// Reads messages that deliveries need, and keeps them. Loop-owned.
final class Messages {
  let kept: KeptMessages
  /// Being read, with those who wait for it too.
  private var loading: [MessageID: [UnsafeContinuation<Void, Never>]] = [:]
  private let store: Store
  private let decode: ([UInt8]) throws -> Message
  /// Of devices with times of their own.
  var timing: (AppID, Message) -> Timing? = { _, _ in nil }

  init(store: Store, idleLimit: Int, decode: @escaping ([UInt8]) throws -> Message) {
    self.store = store
    self.decode = decode
    kept = KeptMessages(idleLimit: idleLimit)
  }

  /// The account is another one now: what it makes of a message is made anew.
  func forgetRenderings(of credential: CredentialID) {
    for message in kept.all { message.forgetRenderings(of: credential) }
  }

  /// What is known of them, their control above all, may be untrue: those that are needed are read again.
  func forgetAll() { kept.forgetAll() }

  func inMemory(_ id: MessageID) -> LoadedMessage? { kept[id] }
  func isLoading(_ id: MessageID) -> Bool { loading[id] != nil }

  /// Nil: beyond retention, or never stored. Asked for once, however many wait for it.
  func load(_ id: MessageID) async throws(StoreError) -> LoadedMessage? {
    while loading[id] != nil {
      await withUnsafeContinuation { waiter in
        // It may have been read before this one came to wait.
        if loading[id] == nil { waiter.resume() } else { loading[id]!.append(waiter) }
      }
    }
    if let message = kept[id] { return message }
    loading[id] = []
    defer { for waiter in loading.removeValue(forKey: id) ?? [] { waiter.resume() } }
    guard let stored = try await store.queue.message(id) else { return nil }
    return decoded(stored)
  }

  /// One that came with its job.
  func enter(_ stored: StoredMessage) {
    if kept[stored.id] == nil, loading[stored.id] == nil { _ = decoded(stored) }
  }

  /// Nil: it cannot be read.
  func content(of stored: StoredMessage) -> Message? { stored.message ?? (try? decode(stored.body)) }

  private func decoded(_ stored: StoredMessage) -> LoadedMessage {
    let content = content(of: stored)
    let message = LoadedMessage(stored, content: content, timing: content.flatMap { timing(stored.app, $0) })
    kept.keep(message)
    return message
  }
}
