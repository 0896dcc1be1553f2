import Domain
import Loop
import Store
import Support
import Testing

@testable import Delivery

@Suite("Messages in memory", .serialized, .timeLimit(.minutes(6 * Sanitizer.slowness)))
struct MessagesTests {
  @Test(
    "many ask for a message that is forgotten at once: it is read again and again, each gets it, and none waits for ever"
  )
  func contended() async throws {
    try await withPost { post in
      let id = try await post.send("x", to: tokens(1))
      let messages = Messages(store: post.store, idleLimit: 0) { PlainMessage.decode($0) }
      let (askers, times) = (32, 20)
      var found = 0
      var failures: [String] = []
      for _ in 0..<askers {
        post.loop.spawn {
          for _ in 0..<times {
            do {
              // Whose answer may be read from the socket together with the message that another one waits for.
              _ = try await post.store.reports.report(id, app: Post.app)
              let message = try await messages.load(id)
              if message?.id == id { found += 1 } else { failures.append("it was not there") }
            } catch {
              failures.append("\(error)")
            }
          }
        }
      }
      try await post.until("all answers") { found + failures.count == askers * times }
      #expect(failures == [])
      post.store.close()
    }
  }
}
