import Domain
import HTTPServer
import Intake
import JSON
import Loop
import Store

extension DeviceCalls {
  /// `POST /v1/devices/bulk`: each line is a device as `POST /v1/devices` takes it, or as the export writes it, with
  /// its `registered_at`. May be repeated as a whole: what was registered by then is replaced by the same. With `dry_run`
  /// each line is judged as the import would, and nothing is written.
  func registerDevices(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    typealias Written = (inout JSONWriter) -> Void
    let isTrial = call.flag("dry_run")
    let lines = try await Lines(of: call, bound, loop).all
    let faults = FaultBudget(
      eachDocument: RequestBounds.violationsOfLine, suggestions: call.suggestions)
    var results: [(line: Int, result: Result<Written, Problem>)] = []
    var devices: [DeviceReading] = []
    var places: [Int] = []
    for line in lines {
      await loop.giveWay()
      do throws(Problem) {
        let document = try await line.document(bodies)
        if DeviceReader.isDead(document) {
          let skipped: Written = { writer in
            writer.member("registration", Self.skipped)
            writer.member("reason", StoredDevice.Status.dead.rawValue)
            if isTrial { writer.member("dry_run", true) }
          }
          results.append((line.number, .success(skipped)))
          continue
        }
        devices.append(try device(in: document, call, faults))
        places.append(results.count)
        results.append((line.number, .success { _ in }))
      } catch {
        results.append((line.number, .failure(error)))
      }
    }
    var refused: [Int: Problem] = [:]
    if let limit = tagStock.limit(call.app) {
      for at in try await tagStock.refused(of: devices.map(\.device.tags), call.app, isTrial: isTrial) {
        refused[at] = TagStock.problem(limit)
      }
    }
    if let limit = stock.limit(call.app) {
      for at in try await stock.refused(of: devices.map(\.device), call.app) {
        refused[at] = DeviceStock.problem(limit)
      }
    }
    for (at, problem) in refused { results[places[at]].result = .failure(problem) }
    places = places.indices.filter { refused[$0] == nil }.map { places[$0] }
    devices = devices.indices.filter { refused[$0] == nil }.map { devices[$0] }
    if !isTrial { try await call.take(.registrations, devices.count) }
    let registered: [PutResult]
    let switches: Switches
    do throws(StoreError) {
      (registered, switches) = try await register(devices, call)
    } catch {
      throw Problem(error)
    }
    await loop.giveWay()
    if !isTrial { stock.registered(registered, call.app) }
    let tenant = try configuration.tenant(call.app)
    for (at, done) in registered.enumerated() {
      await loop.giveWay()
      let (place, reading) = (places[at], devices[at])
      guard case .stored(let id, let registration) = done else {
        results[place].result = .failure(userIsFull)
        continue
      }
      let found = reading.notices(
        of: registration, servedBy: tenant, showsAll: true, staysDisabled: switches.stayDisabled.contains(at),
        isEnabledAgain: switches.enabledAgain.contains(at)
          || registration.tookFromDisabled && !switches.staysOff(at, reading))
      let notices = found.isEmpty ? [] : call.notices.told(found)
      results[place].result = .success { writer in
        writer.member("id", id.rawValue)
        writer.member("registration", registration.word)
        if case .moved(let from) = registration { writer.member("moved_from", from.id.rawValue) }
        if isTrial { writer.member("dry_run", true) }
        if !notices.isEmpty { writer.objects("warnings", notices) { $1.writeMembers(to: &$0) } }
      }
    }
    return await Lines.answer(results, loop)
  }

  /// In place of a registration: the line is of a device that gets nothing any more.
  private static let skipped = "skipped"

  /// Or what would become of them. With what became of devices that were disabled.
  private func register(
    _ readings: [DeviceReading], _ call: Call
  ) async throws(StoreError) -> (results: [PutResult], switches: Switches) {
    let switches = Switches()
    /// The closure outlives no call, and is called on the loop.
    func merging(_ merge: @escaping (DeviceReading, Device) -> Device) -> (Int, Device) -> Device {
      { at, known in
        let device = merge(readings[at], known)
        switches.note(at, readings[at], device, known)
        return device
      }
    }
    func put(_ devices: [Device], _ merge: @escaping (Int, Device) -> Device) async throws(StoreError) -> [PutResult] {
      call.flag("dry_run")
        ? try await store.importForecast.results(of: devices, app: call.app, merging: merge)
        : try await store.devices.put(devices, app: call.app, merging: merge)
    }
    guard call.flag("keep_missing") else {
      return (try await put(readings.map(\.device), merging { $0.keepingDisabled($1) }), switches)
    }
    // A device that takes over the token of another keeps what that one had.
    let owners = try await store.tokens.owners(of: readings.map(\.device.address), app: call.app)
    let devices = readings.indices.map { at in
      let reading = readings[at]
      guard let known = owners[at]?.device, !reading.device.id.rawValue.isEmpty, known.id != reading.device.id else {
        return reading.device
      }
      let device = reading.mergedByAttribute(into: known)
      switches.note(at, reading, device, known)
      return device
    }
    return (try await put(devices, merging { $0.mergedByAttribute(into: $1) }), switches)
  }

  /// Lines by their places, whose devices were disabled. Belongs to the loop.
  private final class Switches {
    /// Those without `enabled`.
    private(set) var stayDisabled: Set<Int> = []
    /// Those with `enabled: true`.
    private(set) var enabledAgain: Set<Int> = []

    /// The device of the line is disabled now.
    func staysOff(_ place: Int, _ reading: DeviceReading) -> Bool {
      stayDisabled.contains(place) || !reading.device.enabled
    }

    /// Noted anew with each attempt to write the device.
    func note(_ place: Int, _ reading: DeviceReading, _ device: Device, _ known: Device) {
      stayDisabled.remove(place)
      enabledAgain.remove(place)
      if !device.enabled, !reading.given.contains("enabled") { stayDisabled.insert(place) }
      if device.enabled, !known.enabled { enabledAgain.insert(place) }
    }
  }

  private func device(in document: JSONValue, _ call: Call, _ faults: FaultBudget) throws(Problem) -> DeviceReading {
    do throws(Refusal) {
      var reading = try DeviceReader.read(
        document, id: nil, now: call.now, providers: configuration.tokenRules, isImported: true,
        faults: faults)
      reading.takeInstallation(in: call.app)
      return reading
    } catch {
      throw Problem(error, .invalidDevice)
    }
  }
}
