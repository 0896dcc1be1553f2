import Domain
import HTTPServer
import Intake
import JSON
import Loop
import Store

extension DeviceCalls {
  /// `POST /v1/devices/bulk`: each line is a device as `POST /v1/devices` takes it, or as the export writes it, with
  /// its `registered_at`. May be repeated as a whole: what was registered by then is replaced by the same.
  func registerDevices(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    typealias Written = (inout JSONWriter) -> Void
    let lines = try await Lines(of: call, loop).all
    let faults = FaultBudget(
      eachDocument: RequestBounds.violationsOfLine, suggestions: call.suggestions)
    var results: [(line: Int, result: Result<Written, Problem>)] = []
    var devices: [DeviceReading] = []
    var places: [Int] = []
    var doubts: [[Notice]] = []
    for line in lines {
      await loop.giveWay()
      do throws(Problem) {
        devices.append(try device(on: line, call, faults))
        places.append(results.count)
        doubts.append(line.notices)
        results.append((line.number, .success { _ in }))
      } catch {
        results.append((line.number, .failure(error)))
      }
    }
    let registered: [PutResult]
    do throws(StoreError) {
      registered = try await register(devices, call)
    } catch {
      throw Problem(error)
    }
    let tenant = try configuration.tenant(call.app)
    for (at, done) in registered.enumerated() {
      let (place, reading) = (places[at], devices[at])
      guard case .stored(let id, let registration) = done else {
        results[place].result = .failure(userIsFull)
        continue
      }
      let found = doubts[at] + reading.notices(of: registration, servedBy: tenant, showsAll: true)
      let notices = found.isEmpty ? [] : call.notices.told(found)
      results[place].result = .success { writer in
        writer.member("id", id.rawValue)
        writer.member("registration", registration.word)
        if case .moved(let from) = registration { writer.member("moved_from", from.rawValue) }
        if !notices.isEmpty { writer.objects("warnings", notices) { $1.writeMembers(to: &$0) } }
      }
    }
    return await Lines.answer(results, loop)
  }

  private func register(_ readings: [DeviceReading], _ call: Call) async throws(StoreError) -> [PutResult] {
    guard call.flag("keep_missing") else {
      return try await store.devices.put(readings.map(\.device), app: call.app)
    }
    // A device that takes over the token of another keeps what that one had.
    let owners = try await store.tokens.owners(of: readings.map(\.device.address), app: call.app)
    let devices = zip(readings, owners).map { reading, owner in
      guard let known = owner?.device, !reading.device.id.rawValue.isEmpty, known.id != reading.device.id else {
        return reading.device
      }
      return reading.mergedByAttribute(into: known)
    }
    return try await store.devices.put(devices, app: call.app) { readings[$0].mergedByAttribute(into: $1) }
  }

  private func device(on line: Lines.Line, _ call: Call, _ faults: FaultBudget) throws(Problem) -> DeviceReading {
    let document = try line.document()
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
