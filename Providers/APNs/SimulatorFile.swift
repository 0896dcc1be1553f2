import Domain
import JSON

/// An `.apns` file, as the iOS simulator takes it by drag and drop or `xcrun simctl push`: the payload, and beside it the
/// app that it is for.
package enum SimulatorFile {
  /// The file name's ending, without the dot.
  package static let suffix = "apns"
  private static let target = "Simulator Target Bundle"

  /// `body`: of a request of this provider.
  package static func contents(body: [UInt8], bundleID: String) -> [UInt8] {
    let opening = JSONValue.object([JSONMember(target, .string(bundleID))]).encoded.dropLast()
    return opening + Array(",".utf8) + body.dropFirst()
  }
}
