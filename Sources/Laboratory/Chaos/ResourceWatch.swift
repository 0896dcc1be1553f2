import CommandFrame
import Glibc
import JSON

/// The memory and the descriptors of each gateway process of a stack, and Redis' memory, over time. Main thread only.
struct ResourceWatch {
  private let processes: [pid_t]
  private var resident: [ResourceSeries]
  private var descriptors: [ResourceSeries]
  private var memory = ResourceSeries("Redis' memory", slack: 4 << 20)

  /// The processes that stand now.
  init(_ stack: ChaosStack) {
    var named: [(name: String, id: pid_t)] = [("api", stack.api.id)]
    for (place, worker) in stack.workers.enumerated() { named.append(("worker \(place + 1)", worker.id)) }
    processes = named.map(\.id)
    resident = named.map { ResourceSeries("\($0.name), memory", slack: 8 << 20) }
    descriptors = named.map { ResourceSeries("\($0.name), descriptors", slack: 5, isCount: true) }
  }

  /// `redis`: bytes that Redis uses now.
  mutating func look(redis: Int64) {
    memory.add(redis)
    for (place, process) in processes.enumerated() {
      resident[place].add(ProcessTimes.memory(of: process))
      descriptors[place].add(ProcessTimes.descriptors(of: process))
    }
  }

  private var series: [ResourceSeries] { resident + descriptors + [memory] }
  var isFlat: Bool { series.allSatisfy(\.isFlat) }

  var table: String {
    var table = Table()
    table.row("", "begin", "early", "late", "")
    for one in series {
      let figures = [one.begin, one.early, one.late].map(one.text)
      table.row([one.name] + figures + [one.isFlat ? "flat" : "GROWS"])
    }
    return table.text
  }

  /// Into an object that is open.
  func write(to writer: inout JSONWriter) {
    writer.objects("resources", series) { writer, one in
      writer.member("resource", one.name)
      writer.member("begin", one.begin)
      writer.member("early", one.early)
      writer.member("late", one.late)
      writer.member("flat", one.isFlat)
    }
  }
}

/// One figure over time: the median of the second quarter against that of the last.
struct ResourceSeries {
  let name: String
  private let slack: Int64
  private let isCount: Bool
  private var values: [Int64] = []

  init(_ name: String, slack: Int64, isCount: Bool = false) {
    self.name = name
    self.slack = slack
    self.isCount = isCount
  }

  mutating func add(_ value: Int64) { values.append(value) }

  private func median(from: Int, to: Int) -> Int64 {
    let part = values[from..<max(from, to)].sorted()
    return part.isEmpty ? 0 : part[part.count / 2]
  }
  /// Before it is warm.
  var begin: Int64 { median(from: 0, to: min(3, values.count)) }
  var early: Int64 { median(from: values.count / 4, to: values.count / 2) }
  var late: Int64 { median(from: values.count * 3 / 4, to: values.count) }
  /// Within a twentieth and what a single figure may waver by.
  var isFlat: Bool { late <= early + early / 20 + slack }

  func text(_ value: Int64) -> String {
    isCount ? "\(value)" : "\(value >> 20).\((value & 0xfffff) * 10 >> 20) MiB"
  }
}
