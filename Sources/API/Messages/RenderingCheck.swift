import Domain
import Intake
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
  /// warning.
  func check(
    _ contents: [VariantTexts], _ credentials: [CredentialID], _ now: WallTime
  ) throws(Problem) -> [Notice] {
    var violations: [Violation] = []
    var told: Set<Violation> = []
    var notices: [Notice] = []
    var noticed: Set<Notice> = []
    for content in contents {
      let texts = content.texts
      for credential in credentials {
        // It may have left the configuration a moment ago: its deliveries wait like all of that credential.
        guard let account = configuration.accounts[credential] else { continue }
        for choice in texts.choices(providerChooses: account.choosesLanguage) {
          do throws(RenderFault) {
            for warning in try account.render(texts.sample(choice), startedAt: now).warnings {
              let notice = Notice(pointer: warning.pointer, code: "mapped", detail: warning.note)
              if noticed.insert(notice).inserted { notices.append(notice) }
            }
          } catch {
            let language = texts.language(of: choice).map { " (in `\($0)`)" } ?? ""
            let name = content.variant.map { " (variant `\($0)`)" } ?? ""
            for fault in error.all {
              let violation = Violation(fault.pointer, fault.code, fault.detail + language + name)
              if told.insert(violation).inserted { violations.append(violation) }
            }
          }
        }
      }
    }
    guard violations.isEmpty else { throw Problem(Refusal(violations: violations), .invalidMessage) }
    return notices
  }
}
