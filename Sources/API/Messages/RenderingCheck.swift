import Domain
import Intake
import JSON
import Store

struct VariantTexts {
  /// Nil: all devices get them.
  var variant: String?
  var texts: MessageTexts
}

extension Message {
  /// Read once for all that is to be checked of them.
  var textsByVariant: [VariantTexts] {
    contents.map { VariantTexts(variant: $0.name, texts: MessageTexts($0.message)) }
  }
}

/// What providers would refuse of a message, or change.
struct RenderingCheck {
  let configuration: AdoptedConfiguration

  /// Renders the message once for each account that it will go through, in each language: a message that one provider
  /// would refuse is refused as a whole, naming the provider and what is too much. What is mapped or left out becomes a
  /// warning. `devices`: that go through each account.
  func check(
    _ contents: [VariantTexts], _ credentials: [CredentialID], _ now: WallTime,
    devices: @autoclosure () -> [CredentialID: Int] = [:]
  ) throws(Problem) -> RenderingFindings {
    var violations: [Violation] = []
    var told: Set<Violation> = []
    var findings = RenderingFindings()
    var noticed: Set<Notice> = []
    for content in contents {
      let texts = content.texts
      for credential in credentials {
        // It may have left the configuration a moment ago: its deliveries wait like all of that credential.
        guard let account = configuration.accounts[credential] else { continue }
        for choice in texts.choices(providerChooses: account.choosesLanguage) {
          do throws(RenderFault) {
            let rendering = try account.render(texts.sample(choice), startedAt: now)
            if rendering.needsLiveActivityToken { findings.needLiveActivityToken.insert(credential) }
            for warning in rendering.warnings where devices()[credential, default: 0] >= warning.leastDevices {
              let notice = Notice(warning)
              if noticed.insert(notice).inserted { findings.notices.append(notice) }
            }
          } catch {
            let language = texts.language(of: choice).map { " (in `\($0)`)" } ?? ""
            let name = content.variant.map { " (variant `\($0)`)" } ?? ""
            for fault in error.all {
              let fault = fault.placed(in: content.texts.sample(choice))
              let violation = Violation(fault.pointer, fault.code, fault.detail + language + name)
              if told.insert(violation).inserted { violations.append(violation) }
            }
          }
        }
      }
    }
    guard violations.isEmpty else { throw Problem(Refusal(violations: violations), .invalidMessage) }
    return findings
  }
}

extension RenderFault {
  /// A message that is too large as a whole stands at its largest part, which is to be shortened.
  fileprivate func placed(in message: Message) -> RenderFault {
    guard code == Self.tooLargeCode, pointer.isEmpty else { return self }
    let notification = message.notification
    let parts: [(pointer: String, size: Int)] = [
      ("/data", JSONValue.object(message.data).encoded.count),
      ("/notification/title", notification?.title?.utf8.count ?? 0),
      ("/notification/body", notification?.body?.utf8.count ?? 0),
      ("/encrypted_body", message.encryptedBody?.utf8.count ?? 0),
      (
        "/live_activity/content_state",
        message.liveActivity.map { JSONValue.object($0.contentState).encoded.count } ?? 0
      ),
      ("/live_activity/attributes", message.liveActivity.map { JSONValue.object($0.attributes).encoded.count } ?? 0),
    ]
    guard let largest = parts.max(by: { $0.size < $1.size }) else { return self }
    var fault = self
    fault.pointer = largest.pointer
    let isData = largest.pointer == "/data"
    fault.detail +=
      "; `\(FieldName.of(pointer: largest.pointer))` has \(largest.size) of them: "
      + (isData ? "send a reference, and let the app fetch the rest" : "shorten it")
    return fault
  }
}

/// What is to be known of a message that every provider takes.
struct RenderingFindings {
  /// What was mapped or left out.
  var notices: [Notice] = []
  /// Accounts that send such a message only to devices with a `live_activity_token`.
  var needLiveActivityToken: Set<CredentialID> = []
}

extension Notice {
  /// `left_out`: the provider gets nothing of the field. `mapped`: it gets the nearest that it has.
  fileprivate init(_ warning: RenderWarning) {
    self.init(
      pointer: warning.pointer, code: warning.isLeftOut ? "left_out" : "mapped",
      detail: warning.isLeftOut ? "left out for \(warning.note)" : warning.note)
  }
}
