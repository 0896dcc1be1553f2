import CommandFrame

/// What was changed between two texts, line by line, as `diff -u` shows it.
struct LineDifference {
  private enum Line {
    case kept(String)
    case removed(String)
    case added(String)

    var isChange: Bool { if case .kept = self { false } else { true } }
  }
  private var lines: [Line] = []
  /// Lines shown around a change.
  private static let around = 2

  init(from old: String, to new: String) {
    let before = old.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let after = new.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var removed: Set<Int> = []
    var added: Set<Int> = []
    for change in after.difference(from: before) {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): added.insert(offset)
      }
    }
    var (left, right) = (0, 0)
    while left < before.count || right < after.count {
      if removed.contains(left) {
        lines.append(.removed(before[left]))
        left += 1
      } else if added.contains(right) {
        lines.append(.added(after[right]))
        right += 1
      } else {
        lines.append(.kept(before[left]))
        left += 1
        right += 1
      }
    }
  }

  var isEmpty: Bool { !lines.contains(where: \.isChange) }

  /// Changed lines with their neighbours; `…` stands for lines left out.
  var text: String {
    var shown: Set<Int> = []
    for (place, line) in lines.enumerated() where line.isChange {
      shown.formUnion(max(0, place - Self.around)...min(lines.count - 1, place + Self.around))
    }
    var text: [String] = []
    var last = -1
    for place in shown.sorted() {
      if place != last + 1 { text.append(Style.dim.on("  …")) }
      last = place
      switch lines[place] {
      case .kept(let line): text.append("    " + line)
      case .removed(let line): text.append(Style.red.on("  - " + line))
      case .added(let line): text.append(Style.green.on("  + " + line))
      }
    }
    return text.joined(separator: "\n")
  }
}
