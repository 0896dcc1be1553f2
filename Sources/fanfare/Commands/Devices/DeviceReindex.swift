import CommandFrame
import Domain
import Gateway
import JSON
import Loop
import Store

/// `fanfare devices reindex`: on the store itself.
enum DeviceReindex {
  static let options = [
    Command.configuration,
    Command.Option("--repair", "reindex: repair the differences found"),
    Command.Option("--app", "ID", "reindex: only this app (default: all)"),
  ]

  static func run(_ arguments: Arguments) throws -> ExitCode {
    let setup = try Setup.load(arguments)
    let repair = arguments.has("--repair")
    let apps = try apps(arguments.text("--app"), setup)
    do {
      return try Blocking.run { loop in
        let store = Store(loop: loop, redis: setup.redis, settings: setup.store)
        defer { store.close() }
        try await store.openOnce()
        var isClean = true
        for app in apps {
          var bar = ProgressBar(app.rawValue)
          defer { bar.clear() }
          let look = { () async throws in
            try await store.registryCheck.reindex(app, repair: repair) { report in
              bar.draw("\(app.rawValue): \(counted(report.devices, "device")) checked")
            }
          }
          let report =
            repair
            ? try await store.audit.record(AuditEntry(command: "repairRegistry", at: loop.wallNow), app: app, look)
            : try await look()
          bar.clear()
          isClean = isClean && (report.isClean || (repair && report.faults[.unreadableRecord] == nil))
          show(report, app, repair: repair, json: arguments.wantsJSON)
        }
        return isClean ? .success : .failure
      }
    } catch let error as StoreError {
      return ServeCommand.explain(.store(error))
    }
  }

  private static func apps(_ name: String?, _ setup: Setup) throws(UsageProblem) -> [AppID] {
    let known = setup.apps.keys.sorted { $0.rawValue < $1.rawValue }
    guard let name else { return known }
    guard let app = known.first(where: { $0.rawValue == name }) else {
      throw UsageProblem(text: "the configuration has no app \(name): \(known.map(\.rawValue).joined(separator: ", "))")
    }
    return [app]
  }

  private static func show(_ report: ReindexReport, _ app: AppID, repair: Bool, json: Bool) {
    let faults = report.faults.sorted { $0.key.rawValue < $1.key.rawValue }
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("app", app.rawValue)
      writer.member("device_count", report.devices)
      writer.member("repaired", repair)
      writer.objects("faults", faults) { writer, item in
        writer.member("fault", item.key.rawValue)
        writer.member("count", item.value)
      }
      writer.member("samples", JSONValue.array(report.samples.map { .string($0) }))
      writer.endObject()
      return Terminal.print(json: writer.bytes)
    }
    Terminal.print(
      "\(app.rawValue): \(counted(report.devices, "device")), \(faults.isEmpty ? "no differences" : "differences:")")
    for (fault, count) in faults { Terminal.print("  \(fault.rawValue): \(count)") }
    for sample in report.samples { Terminal.print("    \(sample)") }
    if !faults.isEmpty {
      Terminal.print(
        repair ? "  repaired, except unreadable records" : "  repair them with fanfare devices reindex --repair")
    }
  }
}
