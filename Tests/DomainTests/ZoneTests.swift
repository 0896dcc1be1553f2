import Foundation
import Support
import Testing

@testable import Domain

/// Against the machine's IANA database; Foundation's own arithmetic stands against ours.
@Suite("Time zones")
struct ZoneTests {
  static let book: @Sendable () -> ZoneBook = {
    ZoneBook { name in
      (try? Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/\(name)"))).map { Array($0) }
    }
  }

  private func rules(_ name: String) throws -> ZoneRules { try #require(Self.book().rules(name)) }

  @Test(
    "a time of day becomes an instant by the zone's own rules; skipped times count as the end of the gap, repeated ones once",
    arguments: [
      ("Europe/Berlin", "2026-12-01T09:00:00", "2026-12-01T08:00:00.000Z"),
      ("Europe/Berlin", "2026-07-01T09:00:00", "2026-07-01T07:00:00.000Z"),
      // Clocks go from 02:00 to 03:00, and back from 03:00 to 02:00.
      ("Europe/Berlin", "2027-03-28T02:30:00", "2027-03-28T01:00:00.000Z"),
      ("Europe/Berlin", "2027-03-28T02:00:00", "2027-03-28T01:00:00.000Z"),
      ("Europe/Berlin", "2027-03-28T01:59:59", "2027-03-28T00:59:59.000Z"),
      ("Europe/Berlin", "2026-10-25T02:30:00", "2026-10-25T00:30:00.000Z"),
      ("Europe/Berlin", "2026-10-25T03:00:00", "2026-10-25T02:00:00.000Z"),
      ("America/New_York", "2027-03-14T02:15:00", "2027-03-14T07:00:00.000Z"),
      ("America/New_York", "2026-11-01T01:30:00", "2026-11-01T05:30:00.000Z"),
      // Half an hour of summer time.
      ("Australia/Lord_Howe", "2026-10-04T02:15:00", "2026-10-03T15:30:00.000Z"),
      ("Australia/Lord_Howe", "2027-04-04T01:45:00", "2027-04-03T14:45:00.000Z"),
      // Summer time was given up; midnight used to be skipped.
      ("America/Sao_Paulo", "2026-12-01T09:00:00", "2026-12-01T12:00:00.000Z"),
      ("America/Sao_Paulo", "2018-11-04T00:30:00", "2018-11-04T03:00:00.000Z"),
      // A whole day was skipped.
      ("Pacific/Apia", "2011-12-30T12:00:00", "2011-12-30T10:00:00.000Z"),
      ("Pacific/Apia", "2026-12-01T09:00:00", "2026-11-30T20:00:00.000Z"),
      ("Asia/Kathmandu", "2026-12-01T09:00:00", "2026-12-01T03:15:00.000Z"),
      ("Pacific/Kiritimati", "2026-12-01T09:00:00", "2026-11-30T19:00:00.000Z"),
      ("Etc/GMT+12", "2026-12-01T09:00:00", "2026-12-01T21:00:00.000Z"),
      // Beyond the table of changes: by the rule that goes on for ever.
      ("Europe/Berlin", "2099-07-01T09:00:00", "2099-07-01T07:00:00.000Z"),
      ("Europe/Dublin", "2099-01-01T09:00:00", "2099-01-01T09:00:00.000Z"),
      ("America/Nuuk", "2099-07-01T09:00:00", "2099-07-01T10:00:00.000Z"),
    ])
  func instants(_ zone: String, _ local: String, _ expected: String) throws {
    let time = try #require(LocalTime(local))
    #expect(try rules(zone).instant(of: time).rfc3339 == expected)
    #expect(time.earliest <= (try rules(zone).instant(of: time)))
  }

  @Test("every zone of the list can be read, and has the offsets that Foundation gives it, now and in fifty years")
  func offsets() throws {
    var random = SystemRandomNumberGenerator()
    let names = ZoneName.list.split { $0 == " " || $0 == "\n" }.map(String.init)
    let book = Self.book()
    var compared = 0
    for name in names {
      let rules = try #require(book.rules(name), "\(name) cannot be read")
      guard let zone = TimeZone(identifier: name) else { continue }
      for _ in 0..<40 {
        let second = Int64.random(in: 1_000_000_000...3_300_000_000, using: &random)
        // Foundation's table of summer times ends in 2037.
        guard second < 2_140_000_000 else { continue }
        let theirs = zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second)))
        #expect(rules.offset(at: WallTime(seconds: second)) == theirs, "\(name) at \(second)")
        compared += 1
      }
    }
    #expect(compared > 5_000)
  }

  @Test("of any time in any zone: the clock shows it or, at the end of a gap, a later one, and never before")
  func firstInstant() throws {
    let seed = UInt64.random(in: 0..<1 << 32)
    var random = Seeded(seed: seed)
    let book = Self.book()
    for name in [
      "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Gaza", "Pacific/Apia",
    ] {
      let rules = try #require(book.rules(name))
      for _ in 0..<300 {
        let local = LocalTime(seconds: Int64.random(in: 1_700_000_000...2_400_000_000, using: &random))
        let instant = rules.instant(of: local)
        #expect(rules.local(instant) >= local, "\(name) \(local.seconds), seed \(seed)")
        for earlier in [1, 60, 3_599, 7_201, 50_000] as [Int64] {
          #expect(rules.local(instant + -earlier * 1_000) < local, "\(name) \(local.seconds), seed \(seed)")
        }
      }
    }
  }

  @Test("quiet hours end by the device's clock, over midnight and over the nights when clocks change")
  func quietHours() throws {
    let berlin = try rules("Europe/Berlin")
    let night = QuietHours(from: 22 * 60, to: 8 * 60)
    func time(_ text: String) throws -> WallTime { try #require(WallTime(rfc3339: text)) }
    #expect(night.opening(at: try time("2026-12-01T20:59:59Z"), berlin) == nil)
    #expect(night.opening(at: try time("2026-12-01T21:00:00Z"), berlin) == (try time("2026-12-02T07:00:00Z")))
    #expect(night.opening(at: try time("2026-12-02T06:59:59Z"), berlin) == (try time("2026-12-02T07:00:00Z")))
    #expect(night.opening(at: try time("2026-12-02T07:00:00Z"), berlin) == nil)
    // The night that is an hour short.
    #expect(night.opening(at: try time("2027-03-27T22:00:00Z"), berlin) == (try time("2027-03-28T06:00:00Z")))
    #expect(night.closing(after: try time("2026-12-02T07:00:00Z"), berlin) == (try time("2026-12-02T21:00:00Z")))
    let noon = QuietHours(from: 12 * 60, to: 14 * 60)
    #expect(noon.opening(at: try time("2026-07-01T11:00:00Z"), berlin) == (try time("2026-07-01T12:00:00Z")))
    #expect(noon.opening(at: try time("2026-07-01T12:00:00Z"), berlin) == nil)
    // Their end comes twice; in the second hour it lies ahead again.
    let short = QuietHours(from: 60, to: 150)
    #expect(short.opening(at: try time("2026-10-25T01:10:00Z"), berlin) == (try time("2026-10-25T01:30:00Z")))
  }

  @Test("quiet hours come each day, also on those of 23 and 25 hours")
  func pause() throws {
    func time(_ text: String) throws -> WallTime { try #require(WallTime(rfc3339: text)) }
    var message = Message(to: .everyone, kind: .alert)
    message.quietHours = .own(QuietHours(from: 22 * 60, to: 8 * 60))
    let timing = try #require(Timing(message, AppClock(), Self.book()))
    let start = try time("2026-12-02T12:00:00Z")
    let winter = try #require(timing.pause("Europe/Berlin", after: start, until: start + 2_419_200_000))
    #expect(winter.times.count == 28)
    #expect(winter.end(now: try time("2026-12-02T20:00:00Z")) == nil)
    #expect(winter.end(now: try time("2026-12-03T01:00:00Z")) == (try time("2026-12-03T07:00:00Z")))
    #expect(winter.end(now: try time("2026-12-03T08:00:00Z")) == nil)
    #expect(winter.end(now: try time("2026-12-05T22:00:00Z")) == (try time("2026-12-06T07:00:00Z")))
    for (start, spring) in [("2027-03-26T12:00:00Z", true), ("2027-10-29T12:00:00Z", false)] {
      let start = try time(start)
      let pause = try #require(timing.pause("Europe/Berlin", after: start, until: start + 5 * 86_400_000))
      let berlin = try rules("Europe/Berlin")
      for minute in 0..<(5 * 1_440) {
        let now = start + Int64(minute) * 60_000
        let local = berlin.local(now).secondOfDay
        #expect((pause.end(now: now) != nil) == (local >= 22 * 3_600 || local < 8 * 3_600), "\(now.rfc3339)")
      }
      // On these days the hours differ from those of the day before, by UTC.
      #expect(Set(pause.times.map { $0.from.seconds % 86_400 }).count == 2, "\(spring)")
    }
    #expect(timing.pause("Europe/Berlin", after: start, until: start + 3_600_000) == nil)
  }

  @Test("a message's own clock: held until it shows the time, skipped or held in quiet hours, `ttl` from the start on")
  func timing() throws {
    let book = Self.book()
    var message = Message(to: .everyone, kind: .alert)
    #expect(Timing(message, AppClock(), book) == nil)
    message.sendAt = .local(try #require(LocalTime("2026-12-01T07:00:00")))
    message.quietHours = .own(QuietHours(from: 22 * 60, to: 8 * 60))
    let clock = AppClock(fallbackZone: "America/New_York")
    let timing = try #require(Timing(message, clock, book))
    let nine = try #require(WallTime(rfc3339: "2026-12-01T07:00:00Z"))
    #expect(timing.start("Europe/Berlin") == nine + -3_600_000)
    #expect(timing.decide("Europe/Berlin", now: nine + -7_200_000) == .hold(until: nine))
    #expect(timing.decide("Europe/Berlin", now: nine) == .go)
    #expect(timing.decide(nil, now: nine) == .hold(until: nine + 6 * 3_600_000))
    message.quietHours = .own(QuietHours(from: 22 * 60, to: 8 * 60, zone: "Etc/UTC", action: .skip))
    let skipping = try #require(Timing(message, clock, book))
    #expect(skipping.decide("Europe/Berlin", now: nine + -7_200_000) == .skip)
    #expect(skipping.decide("America/New_York", now: nine) == .hold(until: nine + 5 * 3_600_000))
    #expect(skipping.decide("Europe/Berlin", now: nine) == .skip)
    #expect(skipping.decide("Europe/Berlin", now: nine + 3_600_000) == .go)
    // The app's hours are for alerts only, and a message may refuse them.
    var background = Message(to: .everyone, kind: .background)
    let strict = AppClock(quietHours: QuietHours(from: 0, to: 60))
    #expect(Timing(background, strict, book) == nil)
    background.kind = .alert
    #expect(Timing(background, strict, book) != nil)
    background.quietHours = .none
    #expect(Timing(background, strict, book) == nil)
  }

  @Test(
    "the zone that was probably meant is named, and none where that would be a guess",
    arguments: [
      ("Europe/Wien", "Europe/Vienna"), ("Wien", "Europe/Vienna"), ("europe/vienna", "Europe/Vienna"),
      ("Vienna", "Europe/Vienna"), ("Europe/Viena", "Europe/Vienna"), ("Europe/Viennna", "Europe/Vienna"),
      ("Europa/Berlin", "Europe/Berlin"), ("Eurpoe/Berlin", "Europe/Berlin"), ("Berln", "Europe/Berlin"),
      ("America/New York", "America/New_York"), ("America/NewYork", "America/New_York"),
      ("America/Buenos_Airs", "America/Buenos_Aires"), ("Zürich", "Europe/Zurich"), ("Europe/Prag", "Europe/Prague"),
      ("Europe/Kiew", "Europe/Kyiv"), ("CEST", "Europe/Berlin"), ("PST", "America/Los_Angeles"),
      ("Europe/Xien", nil), ("Europe/Bonn", nil), ("GMT+1", nil), ("UTC+2", nil), ("XYZ", nil), ("here", nil),
    ] as [(String, String?)])
  func suggestions(_ text: String, _ zone: String?) {
    #expect(ZoneName.nearest(to: text) == zone)
    #expect(zone.map(ZoneName.exists) ?? true)
  }

  @Test("each alias names a zone, and is none itself")
  func aliases() {
    for (alias, zone) in ZoneName.aliases {
      #expect(ZoneName.exists(zone) && ZoneName.nearest(to: alias) == zone, "\(alias)")
    }
  }

  @Test("files that are cut off or damaged are no zones, and never a crash")
  func damaged() throws {
    let file = Array(try Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/Europe/Berlin")))
    for length in stride(from: 0, to: file.count - 20, by: 7) {
      #expect(ZoneRules(file: Array(file.prefix(length))) == nil)
    }
    var random = Seeded(seed: 7)
    for _ in 0..<2_000 {
      var broken = file
      broken[Int.random(in: 0..<broken.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      _ = ZoneRules(file: broken)?.instant(of: LocalTime(seconds: 2_000_000_000))
    }
    #expect(LocalTime("2026-12-01T09:00:00Z") == nil && LocalTime("2026-12-01T09:00:00+01:00") == nil)
    #expect(LocalTime("2026-02-30T09:00:00") == nil && LocalTime("2026-12-01") == nil && LocalTime("09:00") == nil)
  }

  @Test("a week begins on Monday, a day at midnight of UTC")
  func periods() throws {
    let sunday = try #require(WallTime(rfc3339: "2026-11-22T23:59:59Z"))
    let week = Cap.Period.week
    #expect(week.number(at: sunday) + 1 == week.number(at: sunday + 1_000))
    #expect(week.end(of: week.number(at: sunday)) == sunday + 1_000)
    #expect(week.number(at: sunday + -6 * 86_400_000) == week.number(at: sunday))
    #expect(Cap.Period.day.end(of: Cap.Period.day.number(at: sunday)) == sunday + 1_000)
  }
}
