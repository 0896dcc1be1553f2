import Domain
import Loop
import Store

@testable import Delivery

/// Devices and messages to all of them.
extension Post {
  /// Registers devices with tokens `t0…`, many at a time.
  func register(_ count: Int, _ change: @escaping (inout Device, Int) -> Void = { _, _ in }) async throws {
    let abreast = 64
    for start in stride(from: 0, to: count, by: abreast) {
      let tasks = (start..<min(count, start + abreast)).map { number in
        var device = Device(
          id: DeviceID(rawValue: "d\(number)"), address: Address(provider: .apns, token: "t\(number)"),
          registeredAt: WallTime(milliseconds: 1_000))
        device.platform = number.isMultiple(of: 3) ? nil : "ios"
        change(&device, number)
        return loop.spawn { [store, device] in _ = try? await store.devices.put(device, app: Post.app) }
      }
      for task in tasks { await task.value }
    }
  }

  /// To all devices `d0…`.
  func sendToAll(_ message: PlainMessage, _ count: Int) async throws -> MessageID {
    var message = message
    message.isAudience = true
    var submission = Submission(
      app: Self.app, body: message.body, kind: .alert, urgency: .bulk, acceptedAt: loop.wallNow)
    submission.ttl = message.ttl ?? Message.defaultTTL
    submission.collapseKey = message.collapseKey
    var counts: [Int: Int] = [:]
    for number in 0..<count {
      counts[store.session.partition(of: DeviceID(rawValue: "d\(number)"), in: Self.app), default: 0] += 1
    }
    submission.audience = SubmissionAudience(expression: "everyone", reach: .allDevices, counts: counts)
    guard case .accepted(let id) = try await store.acceptance.accept(submission) else { throw Failure("not accepted") }
    return id
  }
}
