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
    var devices: [Device] = []
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
      registered = try await store.devices.put(devices, app: call.app)
    } catch {
      throw Problem(error)
    }
    for (place, done) in zip(places, registered) {
      guard case .stored(let id, let registration) = done else {
        results[place].result = .failure(userIsFull)
        continue
      }
      results[place].result = .success { writer in
        writer.member("id", id.rawValue)
        writer.member("registration", registration.word)
        if case .moved(let from) = registration { writer.member("moved_from", from.rawValue) }
      }
    }
    return await Lines.answer(results, loop)
  }

  private func device(on line: Lines.Line, _ call: Call, _ faults: FaultBudget) throws(Problem) -> Device {
    let document = try line.document()
    do throws(Refusal) {
      var reading = try DeviceReader.read(
        document, id: nil, now: call.now, providers: configuration.tokenRules, isImported: true,
        faults: faults)
      reading.takeInstallation(in: call.app)
      return reading.device
    } catch {
      throw Problem(error, .invalidDevice)
    }
  }
}
