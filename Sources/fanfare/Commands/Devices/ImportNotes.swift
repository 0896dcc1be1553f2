import CommandFrame
import Domain
import GatewayClient
import JSON

/// What an import has to say of its lines: notes of one kind together, and refusals behind them.
struct ImportNotes {
  /// Lines that are imported and have a warning of one field and code.
  private struct Kind {
    var first: Int
    var text: String
    var count = 0
    /// Each line says the same.
    var isAlike = true
  }
  /// Kinds that are told, and refused lines that are explained one by one; the rest is counted.
  private static let told = 20

  private var places: [String: Int] = [:]
  private var kinds: [Kind] = []
  /// Lines with a note of a kind that is not told.
  private var others = 0
  private var refusals: [String] = []
  private var refused = 0

  /// Warnings of a line that is imported all the same.
  mutating func take(_ warnings: [JSONValue], _ line: Int) {
    var isOther = false
    for warning in warnings {
      let (code, pointer) = (warning["code"]?.string ?? "", warning["pointer"]?.string ?? "")
      guard !ImportTally.countedCodes.contains(code) else { continue }
      let text = FieldName.sentence(warning["detail"]?.string ?? "", at: pointer)
      if let place = places["\(code) \(pointer)"] {
        kinds[place].count += 1
        if kinds[place].text != text { kinds[place].isAlike = false }
      } else if kinds.count < Self.told {
        places["\(code) \(pointer)"] = kinds.count
        kinds.append(Kind(first: line, text: text, count: 1))
      } else {
        isOther = true
      }
    }
    if isOther { others += 1 }
  }

  mutating func refuse(_ problem: JSONValue, _ line: Int) {
    refused += 1
    guard refused <= Self.told else { return }
    let faults = (problem["violations"]?.array ?? []).map {
      FieldName.sentence($0["detail"]?.string ?? "", at: $0["pointer"]?.string ?? "")
    }
    let detail = faults.isEmpty ? problem["detail"]?.string ?? "" : faults.joined(separator: "; ")
    refusals.append("line \(line): \(detail)")
  }

  var lines: [String] {
    var lines = kinds.map { kind in
      kind.count == 1
        ? "note: line \(kind.first): \(kind.text)"
        : kind.isAlike
          ? "note: \(counted(kind.count, "line")) (first: \(kind.first)): \(kind.text)"
          : "note: \(counted(kind.count, "line")), such as line \(kind.first): \(kind.text)"
    }
    if others > 0 { lines.append("note: \(counted(others, "line")) with notes of other kinds") }
    lines += refusals
    if refused > refusals.count { lines.append("… and \(grouped(refused - refusals.count)) more") }
    return lines
  }
}
