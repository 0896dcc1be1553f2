import Domain
import HTTP2

/// What the requests of one credential to single recipients have in common, put together once for as many of them as
/// share it: deliveries of a batch, and those of the next one if it differs in nothing but the body.
final class RequestFrames: SenderPart {
  /// An object, as it is looked at for each row and holds a dozen texts.
  final class Prepared {
    let push: PreparedPush
    let rendering: Rendering
    /// Of one of those it serves.
    let address: Address
    /// `ClaimedMembers.Member.route` of members that it serves; empty for targets of direct sends.
    let route: [UInt8]
    let header: String
    let generation: Int

    fileprivate init(
      _ push: PreparedPush, _ rendering: Rendering, like address: Address, route: [UInt8], _ pass: Sender.Pass
    ) {
      self.push = push
      self.rendering = rendering
      self.address = address
      self.route = route
      header = pass.header
      generation = pass.generation
    }

    /// The frame is the same for this address.
    func serves(_ other: Address) -> Bool {
      other.tokenKind == address.tokenKind && other.environment == address.environment
        && other.bundleID == address.bundleID
    }
    func isOf(_ pass: Sender.Pass) -> Bool { generation == pass.generation && header == pass.header }
    /// Requests of this rendering differ from its own in nothing but the body.
    func carries(_ other: Rendering) -> Bool {
      other.path == rendering.path && other.headers == rendering.headers && other.mark == rendering.mark
    }
  }

  private var last: Prepared?

  /// For a rendering and recipients like this one. Nil: vendor or transport know no frames for it.
  func prepare(_ rendering: Rendering, like address: Address, route: [UInt8], _ pass: Sender.Pass) -> Prepared? {
    guard sender.transport.takesPrepared else { return nil }
    let push: PreparedPush
    if let last, last.isOf(pass), last.serves(address), last.carries(rendering) {
      push = last.push
    } else {
      guard let frame = sender.account.frame(rendering, like: address, authorization: pass.header),
        let made = sender.transport.prepare(frame)
      else { return nil }
      push = made
    }
    let prepared = Prepared(push, rendering, like: address, route: route, pass)
    last = prepared
    return prepared
  }
}
