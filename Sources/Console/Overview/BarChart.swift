import Domain

/// Bars of one hour each, stacked by outcome, on an axis with whole steps.
struct BarChart {
  let figures: ActivityFigures

  private static let height = 168.0
  private static let top = 24.0
  private static let bottom = height - 24
  private static let labels = 4

  /// A step of the axis: 1, 2 or 5 with zeros behind it, so that at most four of them reach the highest bar.
  static func step(to highest: Int) -> Int {
    var unit = 1
    while true {
      for factor in [1, 2, 5] {
        let (step, isTooLarge) = unit.multipliedReportingOverflow(by: factor)
        if isTooLarge { return Int.max }
        if step.multipliedReportingOverflow(by: 4).overflow || step * 4 >= highest { return step }
      }
      let (next, isTooLarge) = unit.multipliedReportingOverflow(by: 10)
      if isTooLarge { return Int.max }
      unit = next
    }
  }

  /// Short enough for its place beside the axis: `20 k`, `1.5 M`. Steps of the axis are told apart by one digit behind the mark.
  static func short(_ value: Int, _ texts: Texts) -> String {
    for (unit, letter) in [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")] where value >= unit {
      let tenths = value % unit / (unit / 10)
      return texts.number(value / unit) + (tenths > 0 ? "\(texts.decimal)\(tenths)" : "") + " " + letter
    }
    return texts.number(value)
  }

  /// Nothing where there are no hours.
  func write(_ texts: Texts, _ html: inout HTML) {
    guard !figures.hours.isEmpty else { return }
    let told = summary(texts)
    html.element("figure", [.class("chart")]) { html in
      html.element(
        "svg",
        [
          .class("plot"), .set(.width, "100%"), .set(.height, Self.text(Self.height)), .set(.role, "img"),
          .set(.ariaLabelledBy, "activity-title activity-desc"),
        ]
      ) { html in
        html.element("title", [.id("activity-title")], texts[.activity])
        html.element("desc", [.id("activity-desc")], told)
        axes(texts, &html)
        bars(&html)
        names(&html)
      }
      html.element("ul", [.class("key")]) { html in
        for part in figures.parts { html.element("li", [.data(.part, part.style)], texts[part.word]) }
      }
      html.element("details", [.id("activity-table")]) { html in
        html.element("summary", texts[.asTable])
        table(texts, &html)
      }
    }
  }

  private func summary(_ texts: Texts) -> String {
    let most = figures.hours.max { $0.total < $1.total }
    let total = texts(.activityTotal, texts.number(figures.total), texts.number(figures.hours.count))
    guard let most, most.total > 0, !most.clock.isEmpty else { return total }
    return total + " " + texts(.activityMost, most.clock, texts.number(most.total))
  }

  private var highest: Int { figures.hours.map(\.total).max() ?? 0 }

  /// Pixels from the base line up.
  private func length(_ value: Int, _ whole: Double) -> Double {
    value > 0 ? max(1, Double(value) / whole * (Self.bottom - Self.top)) : 0
  }

  private func axes(_ texts: Texts, _ html: inout HTML) {
    let step = Self.step(to: highest)
    for place in 0...4 {
      let y = Self.bottom - (Self.bottom - Self.top) * Double(place) / 4
      html.element(
        "line",
        (place == 0 ? [.class("base")] : []) + [
          .set(.x1, "0"), .set(.x2, "100%"), .set(.y1, Self.text(y)), .set(.y2, Self.text(y)),
        ], "")
      let (value, isTooLarge) = step.multipliedReportingOverflow(by: place)
      guard !isTooLarge else { continue }
      html.element(
        "text", [.set(.x, "-8"), .set(.y, Self.text(y + 4)), .set(.textAnchor, "end")], Self.short(value, texts))
    }
    html.element("text", [.set(.x, "-56"), .set(.y, "10")], texts[.perHour])
  }

  private func bars(_ html: inout HTML) {
    let slot = 100 / Double(figures.hours.count)
    let whole = Double(Self.step(to: highest)) * 4
    for (place, hour) in figures.hours.enumerated() {
      var y = Self.bottom
      for part in figures.parts {
        let long = length(hour.parts[part] ?? 0, whole)
        guard long > 0 else { continue }
        y -= long
        html.element(
          "rect",
          [
            .data(.part, part.style), .set(.x, Self.text((Double(place) + 0.12) * slot) + "%"),
            .set(.width, Self.text(slot * 0.76) + "%"), .set(.y, Self.text(y)), .set(.height, Self.text(long)),
          ], "")
      }
    }
  }

  /// The hours below the axis, every sixth of a day.
  private func names(_ html: inout HTML) {
    let count = figures.hours.count
    let each = max(1, (count + Self.labels - 1) / Self.labels)
    for place in stride(from: 0, to: count, by: each) {
      let x = (Double(place) + 0.5) * 100 / Double(count)
      html.element(
        "text",
        [.set(.x, Self.text(x) + "%"), .set(.y, "160"), .set(.textAnchor, "middle")], figures.hours[place].clock)
    }
  }

  private func table(_ texts: Texts, _ html: inout HTML) {
    let parts = figures.parts
    html.table(
      labelledBy: "activity-heading",
      [(texts[.hour], false)] + parts.map { (texts[$0.word], true) } + [(texts[.all], true)]
    ) { html in
      for hour in figures.hours.reversed() {
        html.element("tr") { html in
          html.element("th", [.set(.scope, "row")]) { $0.time(hour.beganAt) }
          for part in parts { html.number(texts.number(hour.parts[part] ?? 0)) }
          html.number(texts.number(hour.total))
        }
      }
    }
  }

  /// With two digits behind the point, as SVG reads it.
  private static func text(_ value: Double) -> String {
    let hundredths = Int((min(max(value, -10_000), 10_000) * 100).rounded())
    return hundredths.isMultiple(of: 100) ? String(hundredths / 100) : String(Double(hundredths) / 100)
  }
}
