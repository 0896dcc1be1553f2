import Domain
import Intake
import Store

extension Service {
  /// Renders the message once for each account that it will go through: a message that one provider would refuse is
  /// refused as a whole, naming the provider and what is too much. What is mapped or left out becomes a warning.
  func checkRendering(_ message: Message, _ targets: [SubmissionTarget], _ now: WallTime) throws(Problem) -> [Notice] {
    var credentials: [CredentialID] = []
    for target in targets {
      if case .queue(let credential) = target.fate, !credentials.contains(credential) { credentials.append(credential) }
    }
    var violations: [Violation] = []
    var notices: [Notice] = []
    for credential in credentials {
      guard let account = accounts[credential] else { preconditionFailure("a target was queued for no account") }
      do throws(RenderFault) {
        for warning in try account.render(message, startedAt: now).warnings {
          let notice = Notice(pointer: warning.pointer, code: "mapped", detail: warning.note)
          if !notices.contains(notice) { notices.append(notice) }
        }
      } catch {
        let violation = Violation(error.pointer, error.code, error.detail)
        if !violations.contains(violation) { violations.append(violation) }
      }
    }
    guard violations.isEmpty else { throw Problem(Refusal(violations: violations), .invalidMessage) }
    return notices
  }
}
