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
    for line in lines {
      await loop.giveWay()
      do throws(Problem) {
        devices.append(try device(on: line, call, faults))
        places.append(results.count)
        results.append((line.number, .success { _ in }))
      } catch {
        results.append((line.number, .failure(error)))
      }
    }
    let registered: [PutResult]
    do throws(StoreError) {
      registered = try await store.devices.put(devices.map(\.device), app: call.app)
    } catch {
      throw Problem(error)
    }
    let tenant = try configuration.tenant(call.app)
    for ((place, reading), done) in zip(zip(places, devices), registered) {
      guard case .stored(let id, let registration) = done else {
        results[place].result = .failure(userIsFull)
        continue
      }
      let found = reading.notices(of: registration, servedBy: tenant, showsAll: true)
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
