import Domain

@testable import Delivery
@testable import Store

/// Values that machine tests need and say nothing about.
enum Sample {
  static let credential = CredentialID(rawValue: "app/main")

  static func message(_ number: Int) -> MessageID {
    MessageID(acceptedAt: WallTime(milliseconds: 1_000 + Int64(number)), partition: 0, random: UInt64(number))
  }
  static func delivery(_ number: Int, index: Int = 0) -> DeliveryID {
    DeliveryID(message: message(number), partition: 0, index: index)
  }
  static func lease(_ nonce: UInt64 = 1, deadline: UInt64 = 7_500) -> Lease {
    Lease(partition: 0, epoch: 1, nonce: nonce, deadline: at(deadline))
  }
  static func stream(
    _ credential: String = "app/main", partition: Int = 0, _ urgency: Urgency = .urgent
  ) -> StreamID {
    StreamID(partition: partition, credential: CredentialID(rawValue: credential), urgency: urgency)
  }
  static func final(_ number: Int) -> Flush.Final {
    .init(
      delivery: delivery(number), device: DeviceID(rawValue: "d\(number)"), provider: .apns, outcome: .accepted,
      reason: nil)
  }
}

/// Milliseconds after the start of the test's clock.
func at(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: (1_000 + milliseconds) * 1_000_000) }
func wall(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: 1_000_000 + milliseconds) }
