import CProcess
import JSON

/// Runs scenarios, several times each, shows and stores what they measured.
struct BenchSuite {
  var scenarios: [DispatchScenario]
  var devices = 100_000
  var runs = 3
  var json = false

  /// On the main thread. `regressed`: worse than the results stored in `check`.
  func run(check: String?, store: String?) throws -> ExitCode {
    // The worker has a core of its own.
    _ = fanfare_pin(Int32(BenchStage.otherCore))
    let populations = Populations()
    var report = BenchReport()
    var isPrinted = json
    for scenario in scenarios {
      var bench = DispatchBench(scenario: scenario, populations: populations)
      bench.devices = devices
      var readings: [Reading] = []
      for _ in 0..<runs {
        readings.append(
          try bench.run { configuration in
            if !isPrinted { Terminal.print("The configuration:\n\(configuration)\(BenchReport.machine)") }
            isPrinted = true
          })
      }
      var spreads = Spread.of(readings)
      if let baseline = report.entries.first(where: { $0.name == scenario.baseline })?.spreads[.rate]?.median {
        spreads[.clean] = Spread(readings.compactMap { $0[.rate].map { $0 / baseline } })
      }
      let entry = BenchReport.Entry(
        name: scenario.name, about: scenario.about, runs: runs, figures: scenario.figures, spreads: spreads,
        faults: readings.flatMap(\.faults))
      report.entries.append(entry)
      if !json { report.show(entry) }
    }
    if json { Terminal.print(report.encoded) }
    if let store, !FileContent.write(report.encoded + [0x0a], to: store) {
      throw BenchFailure(reason: "\(store) cannot be written")
    }
    var worse: [String] = []
    if let check {
      guard let last = FileContent.read(check).flatMap({ try? JSON.parse($0) }) else {
        throw BenchFailure(reason: "\(check) holds no results")
      }
      worse = report.regressions(since: last)
      for line in worse { Terminal.complain("worse than the last results: \(line)") }
    }
    return worse.isEmpty && report.entries.allSatisfy(\.faults.isEmpty) ? .success : .failure
  }
}
