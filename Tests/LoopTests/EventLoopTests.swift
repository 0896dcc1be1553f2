import Domain
import Loop
import Support
import Testing

@Suite("The event loop")
struct EventLoopTests {
  @Test("timers fire in the order of their deadlines, cancelled ones never")
  func timers() async throws {
    let fired = try await withLoop { loop in
      let order = Order()
      loop.after(milliseconds: 20) { order.seen.append(2) }
      let cancelled = loop.after(milliseconds: 10) { order.seen.append(9) }
      loop.after(milliseconds: 1) { order.seen.append(1) }
      loop.cancel(cancelled)
      await loop.sleep(milliseconds: 40)
      return order.seen
    }
    #expect(fired == [1, 2])
  }

  @Test("long work that gives way lets others and timers have their turn")
  func givesWay() async throws {
    let turns = try await withLoop { loop in
      let order = Order()
      func work(_ name: Int, until ended: @escaping () -> Bool) -> Task<Void, Never> {
        loop.spawn {
          while !ended() {
            order.seen.append(name)
            await loop.giveWay()
          }
        }
      }
      let first = work(1) { order.seen.contains(2) }
      let second = work(2) { order.seen.contains(3) }
      loop.after(milliseconds: 0) { order.seen.append(3) }
      await first.value
      await second.value
      return order.seen
    }
    // Without a turn for others neither would have ended.
    #expect(turns.contains(2) && turns.contains(3))
  }

  @Test("a task and what it awaits stay on the loop")
  func isolation() async throws {
    let stayed = try await withLoop { loop in
      let before = loop.onLoop
      await loop.sleep(milliseconds: 1)
      let after = loop.onLoop
      return before && after
    }
    #expect(stayed)
  }

  @Test("the resolver answers on the loop", arguments: ["127.0.0.1", "localhost"])
  func resolver(host: String) async throws {
    try await withLoop { loop in
      let found: Result<[SocketAddress], ResolveFailure> = await withUnsafeContinuation { waiter in
        loop.resolve(host: host, port: 80) { result in
          precondition(loop.onLoop)
          waiter.resume(returning: result)
        }
      }
      let addresses = try found.get()
      #expect(!addresses.isEmpty)
    }
  }
}

private final class Order { var seen: [Int] = [] }
