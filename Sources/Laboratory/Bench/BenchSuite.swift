import CLaboratory
import CommandFrame
import Configuration
import JSON

/// Runs scenarios, several times each, shows and stores what they measured.
struct BenchSuite {
  var names: [String]
  var devices = 100_000
  var runs = 3
  /// Of the zones' scenario.
  var audiences = 10
  var json = false
  /// A folder for registered devices that other runs start with.
  var kept: String?

  static let idle = "idle"
  static let all =
    DispatchScenario.all.map(\.name) + AcceptScenario.all.map(\.name) + [idle, ZonesBench.name, ImportBench.name]

  /// One run of a scenario; it announces its configuration.
  private typealias Run = (_ announce: (String) -> Void) throws -> Reading

  /// On the main thread. Fails if ratios are worse than in the results stored in `check`.
  func run(check: String?, store: String?) throws -> ExitCode {
    // The worker has a core of its own.
    _ = fanfare_pin(Int32(BenchStage.otherCore))
    let populations = Populations(kept: kept)
    var report = BenchReport()
    var isPrinted = json
    for name in names {
      let (run, about, figures, baseline) = scenario(name, populations)
      var readings: [Reading] = []
      for _ in 0..<runs {
        // A machine that is shared changes its pace from minute to minute: each run is compared with one just before it.
        let clean = try baseline.map { try scenario($0, populations).run { _ in } }
        var reading = try run { configuration in
          if !isPrinted { Terminal.print("The configuration:\n\(configuration)\(BenchReport.machine)") }
          isPrinted = true
        }
        if let clean = clean?[.rate], let rate = reading[.rate] { reading[.clean] = rate / clean }
        if let clean = clean?[.gateway], let cost = reading[.gateway] {
          reading[.cost] = (cost + (reading[.acceptCPU] ?? 0)) / clean
        }
        readings.append(reading)
      }
      // It differs little from run to run.
      if let scenario = AcceptScenario.named(name), let each = try AcceptBench(scenario: scenario).instructions() {
        readings[0][.instructions] = each
      }
      let entry = BenchReport.Entry(
        name: name, about: about, runs: runs, figures: figures, spreads: Spread.of(readings),
        faults: readings.flatMap(\.faults))
      report.entries.append(entry)
      if !json { report.show(entry) }
    }
    if json { Terminal.print(report.encoded) } else { Terminal.print("\n" + report.page(devices: devices)) }
    if let store, !FileContent.write(report.encoded + [0x0a], to: store) {
      throw BenchFailure(reason: "\(store) cannot be written")
    }
    let worse = try check.map { try regressions(in: report, since: $0) } ?? []
    return worse.isEmpty && report.entries.allSatisfy(\.faults.isEmpty) ? .success : .failure
  }

  private func scenario(_ name: String, _ populations: Populations) -> (
    run: Run, about: String, figures: [Metric: Double], baseline: String?
  ) {
    if let scenario = DispatchScenario.named(name) {
      var bench = DispatchBench(scenario: scenario, populations: populations)
      bench.devices = devices
      return ({ try bench.run($0) }, scenario.about, scenario.figures, scenario.baseline)
    }
    if let scenario = AcceptScenario.named(name) {
      var bench = AcceptBench(scenario: scenario)
      bench.messages = devices
      return ({ try bench.run($0) }, scenario.about, scenario.figures, nil)
    }
    if name == ZonesBench.name {
      let bench = ZonesBench(devices: devices, audiences: audiences)
      return ({ try bench.run(populations, $0) }, bench.about, ZonesBench.figures, nil)
    }
    if name == ImportBench.name {
      let bench = ImportBench(devices: 10 * devices)
      return ({ _ in try bench.run() }, bench.about, ImportBench.figures, nil)
    }
    return ({ try IdleBench().run($0) }, IdleBench.about, IdleBench.figures, nil)
  }

  private func regressions(in report: BenchReport, since file: String) throws -> [String] {
    guard let last = FileContent.read(file).flatMap({ try? JSON.parse($0) }) else {
      throw BenchFailure(reason: "\(file) holds no results")
    }
    let worse = report.regressions(since: last)
    for line in worse { Terminal.complain("worse than the last results: \(line)") }
    return worse
  }
}
