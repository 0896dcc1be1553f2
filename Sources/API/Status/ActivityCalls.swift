import Domain
import HTTPServer
import Intake
import JSON
import Loop
import Store

/// `/v1/activity`: how the deliveries of an app ended, by hour, and how fast they end now. Belongs to the loop.
final class ActivityCalls {
  private let loop: EventLoop
  private let store: Store
  private var books: [AppID: ActivityBook] = [:]

  /// Hours that are told at most, and where nobody says how many.
  static let hours = 1...48
  private static let usual = 24

  init(loop: EventLoop, store: Store) { (self.loop, self.store) = (loop, store) }

  func readActivity(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let hours = call.request.query("hours").flatMap { Whole.read($0, in: Self.hours) } ?? Self.usual
    let book = books[call.app] ?? ActivityBook(loop: loop, store: store, app: call.app)
    books[call.app] = book
    let found: ActivityBook.Found
    do throws(StoreError) { found = try await book.latest(hours: hours).get() } catch { throw Problem(error) }
    let first = Activity.Period.hour.number(at: found.at) - Int64(hours) + 1
    return Answer.json { writer in
      writer.objects("hours", (0..<Int64(hours)).map { first + $0 }) { writer, hour in
        writer.member("began_at", Activity.Period.hour.start(of: hour).rfc3339)
        writer.objects("counts", Self.sorted(found.hours[hour] ?? [:])) { writer, entry in
          writer.member("provider", entry.key.provider?.rawValue)
          writer.member("outcome", entry.key.outcome.rawValue)
          writer.member("count", entry.value)
        }
      }
      writer.objects("rates", found.rates.sorted { $0.key.rawValue < $1.key.rawValue }) { writer, rate in
        writer.member("provider", rate.key.rawValue)
        writer.member("per_second", JSONValue.double(rate.value))
      }
    }
  }

  /// Always in the same order.
  private static func sorted(_ counts: [Activity.Kind: Int]) -> [(key: Activity.Kind, value: Int)] {
    counts.sorted {
      ($0.key.provider?.rawValue ?? "", $0.key.outcome.rawValue)
        < ($1.key.provider?.rawValue ?? "", $1.key.outcome.rawValue)
    }
  }
}

/// What is known of the activity of one app. Hours and minutes that are over are read once.
final class ActivityBook {
  struct Found: Sendable {
    var at: WallTime
    /// By hour from 1970; an hour without an outcome is missing.
    var hours: [Int64: [Activity.Kind: Int]]
    /// Outcomes a second, of the last whole minutes.
    var rates: [ProviderName: Double]
  }
  private let loop: EventLoop
  private let store: Store
  private let app: AppID
  /// Hours and minutes that are over, whether anything ended in them or not.
  private var over: [Activity.Period: [Int64: [Activity.Kind: Int]]] = [:]
  private var last: (until: Instant, hours: Int, found: Result<Found, StoreError>)?
  private let reading = SharedWork<(hours: Int, found: Result<Found, StoreError>)>()

  /// Whole minutes that a rate is taken of.
  private static let minutes: Int64 = 5
  /// Milliseconds after its end in which something may still be counted to an hour or a minute: clocks differ a little.
  private static let late: Int64 = 60_000

  init(loop: EventLoop, store: Store, app: AppID) { (self.loop, self.store, self.app) = (loop, store, app) }

  func latest(hours: Int) async -> Result<Found, StoreError> {
    while true {
      if let last, last.hours >= hours, loop.now < last.until { return last.found }
      let told = await reading.value { [self] in
        let began = loop.now
        let found: Result<Found, StoreError>
        do throws(StoreError) { found = .success(try await read(hours)) } catch { found = .failure(error) }
        last = (loop.now + StatusCalls.life(took: loop.now - began, isFailure: found.isFailure), hours, found)
        return (hours, found)
      }
      // Somebody else may have asked for fewer.
      if told.hours >= hours { return told.found }
    }
  }

  private func read(_ count: Int) async throws(StoreError) -> Found {
    let now = loop.wallNow
    let hour = Activity.Period.hour.number(at: now)
    let found = try await counts((0..<Int64(count)).map { hour - $0 }, .hour, now, most: ActivityCalls.hours.upperBound)
    let minute = Activity.Period.minute.number(at: now)
    let minutes = try await counts(
      (1...Self.minutes).map { minute - $0 }, .minute, now, most: Int(Self.minutes))
    var ends: [ProviderName: Int] = [:]
    for counts in minutes.values {
      for (kind, count) in counts { if let provider = kind.provider { ends[provider, default: 0] &+= count } }
    }
    let seconds = Double(Self.minutes * 60)
    return Found(at: now, hours: found, rates: ends.mapValues { (Double($0) / seconds * 100).rounded() / 100 })
  }

  /// `most`: of these before now, none is asked for that lies further back.
  private func counts(
    _ wanted: [Int64], _ period: Activity.Period, _ now: WallTime, most: Int
  ) async throws(StoreError) -> [Int64: [Activity.Kind: Int]] {
    var kept = over[period] ?? [:]
    let missing = wanted.filter { kept[$0] == nil }
    var found = try await store.activity.counts(of: app, in: missing, period)
    for number in missing where now - period.start(of: number + 1) > Self.late { kept[number] = found[number] ?? [:] }
    for number in wanted { found[number] = kept[number] ?? found[number] }
    let first = period.number(at: now) - Int64(most)
    over[period] = kept.filter { $0.key >= first }
    return found
  }
}
