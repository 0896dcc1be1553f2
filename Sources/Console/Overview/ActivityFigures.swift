import Domain

/// What `GET /v1/activity` answers, as far as a page shows it.
struct ActivityFigures {
  /// What ended in one hour.
  struct Hour {
    /// As the API writes it.
    var beganAt: String
    var parts: [Campaign.Part: Int] = [:]
    var total: Int { parts.values.reduce(0) { $0.addingSaturated($1) } }
    /// `14:00`, in UTC; empty: its time cannot be read.
    var clock: String {
      let digits = beganAt.dropFirst(11).prefix(5)
      return digits.count == 5 && digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ":") }) ? String(digits) : ""
    }
  }
  /// The oldest first.
  var hours: [Hour] = []
  /// Outcomes a second, by provider.
  var rates: [(provider: String, perSecond: Double)] = []

  private static let mostHours = 48
  private static let mostRates = 20
  private static let mostCounts = 500

  init(_ document: JSONValue) {
    for item in (document["hours"]?.array ?? []).prefix(Self.mostHours) {
      var hour = Hour(beganAt: item["began_at"]?.string ?? "")
      for count in (item["counts"]?.array ?? []).prefix(Self.mostCounts) {
        guard let part = Campaign.Part(rawValue: count["outcome"]?.string ?? ""),
          let number = count["count"]?.integer, number > 0
        else { continue }
        hour.parts[part] = (hour.parts[part] ?? 0).addingSaturated(Int(clamping: number))
      }
      hours.append(hour)
    }
    for item in (document["rates"]?.array ?? []).prefix(Self.mostRates) {
      let rate: Double =
        switch item["per_second"] {
        case .double(let number) where number.isFinite: max(0, number)
        case .integer(let number): max(0, Double(number))
        default: 0
        }
      rates.append((item["provider"]?.string ?? "", rate))
    }
  }

  var total: Int { hours.reduce(0) { $0.addingSaturated($1.total) } }
  /// Those that somebody had, in the order in which they are stacked.
  var parts: [Campaign.Part] { Campaign.Part.allCases.filter { part in hours.contains { ($0.parts[part] ?? 0) > 0 } } }
}

extension Int {
  /// The sum, or the largest number there is.
  func addingSaturated(_ other: Int) -> Int {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}
