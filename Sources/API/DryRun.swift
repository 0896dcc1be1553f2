import Domain
import HTTPServer
import Intake
import JSON
import Store

extension Service {
  /// Samples of one answer: one for each account and kind of token, not one for each device.
  private static let samples = 24

  /// What would be sent, for one device of each kind. The draft has passed every check of a send; nothing is stored.
  func dryRun(_ draft: Draft, _ call: Call) -> HTTPServerResponse {
    // Who may send need not be allowed to read the tokens of devices.
    let showsTokens = call.may(.devices) || call.may(.read)
    var seen: Set<[String]> = []
    var samples: [RequestSample] = []
    for target in draft.submission.targets where samples.count < Self.samples {
      guard case .queue(let credential) = target.fate, let account = accounts[credential], let address = target.address
      else { continue }
      let kind = [credential.rawValue, address.tokenKind.rawValue, account.recipientClass(of: address)]
      guard !seen.contains(kind) else { continue }
      let shown = showsTokens || !target.registered ? address : address.masked
      // It was rendered for this account when the draft was checked.
      guard
        let sample = try? RequestSample(
          draft.message, to: shown, device: target.registered ? target.device : nil, by: account, startedAt: call.now)
      else { continue }
      seen.insert(kind)
      samples.append(sample)
    }
    return Answer.json { writer in
      writer.member("dry_run", true)
      writer.member("targets", draft.submission.targets.count)
      writer.key("requests")
      writer.beginArray()
      for sample in samples { sample.write(to: &writer) }
      writer.endArray()
      writer.key("warnings")
      writer.beginArray()
      for warning in draft.warnings { warning.write(to: &writer) }
      writer.endArray()
    }
  }
}

extension Address {
  private static let mask = "TOKEN"

  /// With another token of the same form.
  fileprivate var masked: Address {
    var address = self
    let parts = token.split(separator: ":", maxSplits: 2).map(String.init)
    address.token = parts.count == 3 && parts[0] == "alias" ? "alias:\(parts[1]):\(Self.mask)" : Self.mask
    if address.liveActivityToken != nil { address.liveActivityToken = Self.mask }
    return address
  }
}
