import Domain

/// The members of an audience in one partition, as they were when it was started (design D8): device numbers in
/// segments of one route, provider, platform and variant. A member's index counts over the segments; those of one route
/// follow each other.
struct Snapshot {
  enum Route: Hashable {
    case queue(CredentialID)
    /// Counted when it was started; no codes are kept.
    case ended(Outcome, reason: String?)
  }
  /// When members with times of their own may be sent to.
  struct Wave: Hashable {
    /// Nil: at once.
    var due: WallTime?
    /// Not in these hours.
    var pause: QuietPause?

    /// Until when its members wait; nil: they may be sent to.
    func waits(at now: WallTime) -> WallTime? {
      if let due, due > now { return due }
      return pause?.end(now: now)
    }

    fileprivate var order: [String] {
      [Self.digits(due), (pause?.times ?? []).map { Self.digits($0.from) + Self.digits($0.to) }.joined()]
    }
    /// As many for every time, so that their order is that of the times.
    private static func digits(_ time: WallTime?) -> String {
      guard let time else { return "" }
      let text = String(time.milliseconds)
      return String(repeating: "0", count: max(0, 20 - text.utf8.count)) + text
    }
  }
  struct Segment {
    var route: Route
    /// Nil: nobody has a time of their own, and nothing is counted of them.
    var wave: Wave?
    var provider: ProviderName
    /// As it was when the audience was started: counters add up to the count by it.
    var platform: String?
    /// What its members get, where the message has variants.
    var variant: String?
    /// Its first index.
    var first: Int
    /// Ascending.
    var numbers: [UInt32]
    var range: Range<Int> { first..<first + numbers.count }
  }
  /// What one credential sends from the same time on: a range of indexes.
  struct Job: Hashable {
    var credential: CredentialID
    var wave: Wave?
    var range: Range<Int>
  }

  /// In the order of their indexes.
  private(set) var segments: [Segment]
  var takenAt: WallTime
  var count: Int { segments.last?.range.upperBound ?? 0 }

  /// Members by what is the same for them, in any order; each with its numbers in ascending order.
  init(_ groups: [(kind: Kind, numbers: [UInt32])], takenAt: WallTime) {
    self.takenAt = takenAt
    segments = []
    let ordered = groups.filter { !$0.numbers.isEmpty }.sorted {
      $0.kind.order.lexicographicallyPrecedes($1.kind.order)
    }
    for (kind, numbers) in ordered {
      segments.append(
        Segment(
          route: kind.route, wave: kind.wave, provider: kind.provider, platform: kind.platform, variant: kind.variant,
          first: count,
          numbers: numbers))
    }
  }

  /// What the members of a segment have in common.
  struct Kind: Hashable {
    var route: Route
    var wave: Wave?
    var provider: ProviderName
    var platform: String?
    var variant: String?

    fileprivate var order: [String] {
      let rest = [provider.rawValue, platform ?? "", variant ?? ""]
      return switch route {
      case .queue(let credential): ["0", credential.rawValue] + (wave?.order ?? ["", "", ""]) + rest
      case .ended(let outcome, let reason): ["1", outcome.rawValue, reason ?? ""] + rest
      }
    }
  }

  /// One for each credential and time.
  var jobs: [Job] {
    var jobs: [Job] = []
    for segment in segments {
      guard case .queue(let credential) = segment.route else { continue }
      if jobs.last?.credential == credential, jobs.last?.wave == segment.wave {
        jobs[jobs.count - 1].range = jobs[jobs.count - 1].range.lowerBound..<segment.range.upperBound
      } else {
        jobs.append(Job(credential: credential, wave: segment.wave, range: segment.range))
      }
    }
    return jobs
  }

  func segment(of index: Int) -> Segment? { segments.first { $0.range.contains(index) } }

  func number(of index: Int) -> Int? {
    guard let segment = segment(of: index) else { return nil }
    return Int(segment.numbers[index - segment.first])
  }

  /// Of ascending indexes; those that no segment has are left out.
  func numbers(of indexes: [Int]) -> [UInt32] {
    var numbers: [UInt32] = []
    numbers.reserveCapacity(indexes.count)
    var rest = indexes[...]
    for segment in segments {
      while let index = rest.first, segment.range.contains(index) {
        numbers.append(segment.numbers[index - segment.first])
        rest = rest.dropFirst()
      }
    }
    return numbers
  }

  func index(of number: Int) -> Int? {
    guard let number = UInt32(exactly: number) else { return nil }
    for segment in segments {
      var low = 0
      var high = segment.numbers.count
      while low < high {
        let middle = (low + high) / 2
        if segment.numbers[middle] < number { low = middle + 1 } else { high = middle }
      }
      if low < segment.numbers.count, segment.numbers[low] == number { return segment.first + low }
    }
    return nil
  }
}

// MARK: Stored form

extension Snapshot {
  private static let version: UInt8 = 3

  var packed: [UInt8] {
    var packer = Packer()
    packer.byte(Self.version)
    packer.time(takenAt.milliseconds)
    packer.number(segments.count)
    for segment in segments {
      switch segment.route {
      case .queue(let credential):
        packer.byte(segment.wave == nil ? 0 : 2)
        packer.text(credential.rawValue)
        if let wave = segment.wave {
          packer.time(wave.due?.milliseconds ?? 0)
          packer.number(wave.pause?.times.count ?? 0)
          for time in wave.pause?.times ?? [] {
            packer.time(time.from.milliseconds)
            packer.time(time.to.milliseconds)
          }
        }
      case .ended(let outcome, let reason):
        packer.byte(1)
        packer.text(outcome.rawValue)
        packer.optional(reason)
      }
      packer.text(segment.provider.rawValue)
      packer.optional(segment.platform)
      packer.optional(segment.variant)
      NumberSet.write(segment.numbers, to: &packer)
    }
    return packer.bytes
  }

  /// `most`: of numbers in one segment.
  init(packed: [UInt8], most: Int = NumberSet.limit) throws(Corrupt) {
    var reader = Unpacker(packed)
    guard try reader.byte() == Self.version else { throw Corrupt() }
    takenAt = WallTime(milliseconds: try reader.time())
    segments = []
    for _ in 0..<(try reader.int()) {
      let route: Route
      var wave: Wave?
      switch try reader.byte() {
      case 0: route = .queue(CredentialID(rawValue: try reader.text()))
      case 2:
        route = .queue(CredentialID(rawValue: try reader.text()))
        let due = try reader.time()
        let count = try reader.int()
        guard (0...QuietPause.mostTimes).contains(count) else { throw Corrupt() }
        var times: [QuietPause.Time] = []
        for _ in 0..<count {
          times.append(
            QuietPause.Time(
              from: WallTime(milliseconds: try reader.time()), to: WallTime(milliseconds: try reader.time())))
        }
        wave = Wave(
          due: due == 0 ? nil : WallTime(milliseconds: due), pause: times.isEmpty ? nil : QuietPause(times))
      case 1:
        guard let outcome = Outcome(rawValue: try reader.text()) else { throw Corrupt() }
        route = .ended(outcome, reason: try reader.optional())
      default: throw Corrupt()
      }
      let provider = ProviderName(rawValue: try reader.text())
      let platform = try reader.optional()
      let variant = try reader.optional()
      let numbers = try NumberSet.read(&reader, most: most)
      segments.append(
        Segment(
          route: route, wave: wave, provider: provider, platform: platform, variant: variant, first: count,
          numbers: numbers))
    }
    guard reader.isAtEnd else { throw Corrupt() }
  }
}
