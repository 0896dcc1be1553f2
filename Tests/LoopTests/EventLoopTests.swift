import Domain
import Glibc
import Loop
import Support
import Synchronization
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

  @Test("jobs that make ever new jobs keep nobody from timers and descriptors")
  func boundsTurns() async throws {
    let isHeard = try await withLoop { loop in
      let order = Order()
      // From another thread: it comes by the loop's own descriptor.
      nonisolated(unsafe) let heard = order
      let bell = Task { loop.post { heard.seen.append(1) } }
      let chain = loop.spawn {
        // Far more than another thread needs to be heard.
        for _ in 0..<50_000_000 {
          guard order.seen.isEmpty else { break }
          await Task.yield()
        }
      }
      await chain.value
      await bell.value
      return !order.seen.isEmpty
    }
    #expect(isHeard)
  }

  @Test("work on the side leaves the loop free, and its value comes back to the loop")
  func sideThread() async throws {
    let (wasOff, isBack, turns) = try await withLoop { loop in
      let (side, order) = (SideThread(name: "side"), Order())
      let other = loop.spawn {
        while !order.seen.contains(9) {
          order.seen.append(1)
          await loop.sleep(milliseconds: 0)
        }
      }
      // It ends when the loop has had turns meanwhile.
      let wasOff = await side.run { () -> Bool in
        let rung = Rung()
        loop.post { loop.after(milliseconds: 1) { rung.isRung.store(true, ordering: .releasing) } }
        while !rung.isRung.load(ordering: .acquiring) { sched_yield() }
        return !loop.onLoop
      }
      order.seen.append(9)
      await other.value
      return (wasOff, loop.onLoop, order.seen.count)
    }
    #expect(wasOff && isBack && turns > 2)
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

private final class Rung: Sendable {
  let isRung = Atomic(false)
}
