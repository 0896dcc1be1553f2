import CEpoll
package import Domain
import Glibc
import Synchronization

/// One thread with epoll, timers and a task executor (design D3). What belongs to a loop is touched on its thread only:
/// HTTP/2 sessions, the Redis connection, timers and lanes need no locks.
///
/// Callable from any thread: `enqueue`, `post`, `spawn`, `stop`, `onLoop`, and the clocks. All else: on the loop.
package final class EventLoop: TaskExecutor, @unchecked Sendable {
  package let name: String
  private let epoll = fanfare_epoll()
  private let wake = fanfare_eventfd()
  private let inbox = Mutex(Inbox())

  private struct Inbox {
    var jobs: [UnownedJob] = []
    var calls: [@Sendable () -> Void] = []
    var rung = false
    var stopping = false
  }

  // Loop thread only from here on.
  private var local = FIFO<UnownedJob>()
  private var watched: [Watched?] = []
  private var timers = TimerHeap()
  private var endOfTurn: [() -> Void] = []
  private var turnBegan = Instant(nanoseconds: 0)

  private struct Watched {
    var mask: UInt32
    var run: (Readiness) -> Void
  }

  private static let current: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()
  private static let eventsPerTurn = 512

  /// Takes two descriptors, which `deinit` closes, and starts no thread yet. `name` is for whoever
  /// debugs: nothing reads it.
  package init(name: String) {
    self.name = name
    precondition(epoll >= 0 && wake >= 0, "no descriptors left for an event loop")
  }

  deinit {
    close(epoll)
    close(wake)
  }

  // MARK: Threads

  /// Starts the loop on a thread of its own, which ends after `stop`. Joining it is the caller's affair.
  package func start() -> LoopThread { LoopThread(running: self) }

  package var onLoop: Bool { pthread_getspecific(Self.current) == Unmanaged.passUnretained(self).toOpaque() }

  /// Runs `call` on the loop in its next turn, in the order of the calls from one thread.
  package func post(_ call: @escaping @Sendable () -> Void) {
    ring { $0.calls.append(call) }
  }

  /// Ends the loop after the turn in which it is read. What is still watched is left as it is.
  package func stop() {
    ring { $0.stopping = true }
  }

  private func ring(_ change: (inout Inbox) -> Void) {
    let first = inbox.withLock { box in
      change(&box)
      defer { box.rung = true }
      return !box.rung
    }
    if first { fanfare_ring(wake) }
  }

  /// Body of the loop's thread; returns after `stop`.
  func run() {
    pthread_setspecific(Self.current, Unmanaged.passUnretained(self).toOpaque())
    watch(wake, [.readable]) { [wake] _ in fanfare_unring(wake) }
    turnBegan = now
    let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Self.eventsPerTurn)
    defer { events.deallocate() }
    while true {
      let box = inbox.withLock { box in
        let taken = box
        box.jobs = []
        box.calls = []
        box.rung = false
        return taken
      }
      for call in box.calls { call() }
      for job in box.jobs { run(job) }
      runLocalJobs()
      for call in timers.due(now: now) { call() }
      runLocalJobs()
      while !endOfTurn.isEmpty {
        let calls = endOfTurn
        endOfTurn.removeAll(keepingCapacity: true)
        for call in calls { call() }
        // Jobs of a turn that is over gather for the end of the next one.
        if now - turnBegan <= Self.longestTurn { runLocalJobs() }
      }
      if box.stopping { return runLastJobs() }
      let wait = local.isEmpty ? timers.millisecondsToNext(now: now) : 0
      let ready = epoll_wait(epoll, events, Int32(Self.eventsPerTurn), wait)
      turnBegan = now
      for index in 0..<Int(max(0, ready)) {
        let fd = Int(events[index].data.fd)
        // Looked up each time: an earlier handler of this turn may have removed it.
        guard fd < watched.count, let handler = watched[fd] else { continue }
        handler.run(Readiness(events: events[index].events))
      }
    }
  }

  /// In order, until none is left or the turn has lasted for long: then the others come behind what is ready by now, as
  /// each may make another one ready.
  private func runLocalJobs() {
    var count = 0
    while let job = local.popFirst() {
      run(job)
      count += 1
      if count.isMultiple(of: Self.jobsUnmeasured), now - turnBegan > Self.longestTurn { return }
    }
  }
  private static let jobsUnmeasured = 4

  private func runLastJobs() {
    while let job = local.popFirst() { run(job) }
  }

  /// As part of no actor: a function that returns to its caller on this loop then goes straight on. Run as a serial executor's,
  /// each return would be a job of its own.
  private func run(_ job: UnownedJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }

  // MARK: Descriptors

  /// Calls `run` whenever the descriptor is ready for one of `interests` (and on errors or hang-up), level-triggered.
  /// A second call replaces the first; no interests ends it. Must end before the descriptor is closed.
  package func watch(_ fd: Int32, _ interests: Interests, _ run: @escaping (Readiness) -> Void) {
    let index = Int(fd)
    while watched.count <= index { watched.append(nil) }
    let old = watched[index]?.mask
    if interests.isEmpty { return unwatch(fd) }
    let mask = interests.events
    watched[index] = Watched(mask: mask, run: run)
    guard old != mask else { return }
    let result = fanfare_epoll_ctl(epoll, old == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, mask)
    precondition(result == 0, "watched descriptor \(fd) is not open: errno \(errno)")
  }

  /// Changes the interests of a watched descriptor and keeps its handler.
  package func change(_ fd: Int32, _ interests: Interests) {
    guard Int(fd) < watched.count, let handler = watched[Int(fd)] else {
      preconditionFailure("descriptor \(fd) is not watched")
    }
    guard handler.mask != interests.events else { return }
    watched[Int(fd)]?.mask = interests.events
    _ = fanfare_epoll_ctl(epoll, EPOLL_CTL_MOD, fd, interests.events)
  }

  /// Also from inside a handler, after which this one is not called again. No effect on a descriptor that is not
  /// watched.
  package func unwatch(_ fd: Int32) {
    guard Int(fd) < watched.count, watched[Int(fd)] != nil else { return }
    watched[Int(fd)] = nil
    _ = fanfare_epoll_ctl(epoll, EPOLL_CTL_DEL, fd, 0)
  }

  // MARK: Timers

  /// Calls `run` once, not before `milliseconds` have passed.
  @discardableResult
  package func after(milliseconds: Int64, _ run: @escaping () -> Void) -> Timer {
    timers.add(deadline: now + max(0, milliseconds), run)
  }

  /// No effect on a timer that has fired.
  package func cancel(_ timer: Timer) { timers.remove(timer) }

  /// Suspends the calling task, which must run on this loop, for at least that long; cancellation does not shorten it.
  package func sleep(milliseconds: Int64) async {
    await withUnsafeContinuation { (waiter: UnsafeContinuation<Void, Never>) in
      after(milliseconds: milliseconds) { waiter.resume() }
    }
  }

  /// Lets everybody else have a turn if this one has lasted for `longestTurn`; returns at once before that. Asked by the
  /// calling task, which must run on this loop, between the items of whatever a request has many of.
  package func giveWay() async {
    guard now - turnBegan > Self.longestTurn else { return }
    await sleep(milliseconds: 0)
  }
  /// Milliseconds.
  private static let longestTurn: Int64 = 5

  /// Empties an array that nobody else holds, and lets everybody else have their turns meanwhile: to let go of thousands of
  /// objects takes milliseconds.
  package func letGo<Item>(of items: inout [Item]) async {
    while !items.isEmpty {
      items.removeLast(min(items.count, Self.itemsPerStep))
      await giveWay()
    }
  }
  private static let itemsPerStep = 256

  /// Calls `run` at the end of this turn, before the loop waits: the place for one write of what many calls gathered.
  package func atEndOfTurn(_ run: @escaping () -> Void) { endOfTurn.append(run) }

  // MARK: Clocks

  package var now: Instant { Self.monotonicNow }

  /// Goes on while the machine is suspended, so that a worker that wakes knows what has ended meanwhile.
  package static var monotonicNow: Instant {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

  package var wallNow: WallTime { Self.wallClockNow }

  /// CLOCK_REALTIME, in milliseconds. It jumps when the machine's clock is set: measure durations with `monotonicNow`.
  package static var wallClockNow: WallTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  // MARK: Executor

  /// Called on the loop: runs in this turn, or in a later one if this one has lasted for long. From another thread: in
  /// its next turn. Once the loop has ended, never.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if onLoop { return local.append(job) }
    ring { $0.jobs.append(job) }
  }
  /// A task with this preference runs on the loop between its suspensions.
  package func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }
}
