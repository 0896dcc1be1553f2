import Audience
import Domain

/// Gathers what is to be said about one request while it is read: reading goes on after a fault, so that all are told
/// at once.
struct Findings {
  /// The providers that exist and what their tokens are like; nil where any well-formed name and token will do.
  let providers: [ProviderName: TokenRules]?
  let maximumTargets: Int
  /// Of a request that is to be carried out: times are compared with it. What was stored is read without.
  let now: WallTime?
  private(set) var violations: [Violation] = []
  private(set) var warnings: [Warning] = []
  /// What an incomplete request lacks.
  private(set) var missing: [Violation] = []
  private let mayBeIncomplete: Bool
  /// Shared by all that is read of one request.
  let faults: FaultBudget
  private var untold = 0

  /// `mayBeIncomplete`: what is required and left out is no fault, but missing.
  init(
    providers: [ProviderName: TokenRules]?, maximumTargets: Int, now: WallTime? = nil, mayBeIncomplete: Bool = false,
    faults: FaultBudget = FaultBudget()
  ) {
    self.faults = faults
    self.now = now
    self.providers = providers
    self.maximumTargets = maximumTargets
    self.mayBeIncomplete = mayBeIncomplete
  }

  /// Empty, for the same kind of request.
  init(like other: Findings, mayBeIncomplete: Bool? = nil) {
    self.init(
      providers: other.providers, maximumTargets: other.maximumTargets, now: other.now,
      mayBeIncomplete: mayBeIncomplete ?? other.mayBeIncomplete,
      faults: other.faults.ofPart())
  }

  /// What was found in a part that was read by itself; `place`: where a pointer of it stands in the whole, nil where it
  /// stands as it is. What is known of the whole is not said again.
  mutating func add(_ inner: Findings, of part: String, at place: (String) -> String?) {
    if mayBeIncomplete {
      for var violation in inner.missing {
        violation.pointer = place(violation.pointer) ?? violation.pointer
        if !missing.contains(violation) { missing.append(violation) }
      }
    }
    for var violation in inner.violations {
      if let pointer = place(violation.pointer) {
        violation.pointer = pointer
      } else if violations.contains(where: { $0.pointer == violation.pointer && $0.code == violation.code }) {
        continue
      } else {
        violation.detail += " (\(part))"
      }
      guard faults.mayTell(behind: violations.count) else {
        untold += 1
        continue
      }
      violations.append(violation)
    }
    untold += inner.untold
    for var warning in inner.warnings where !warnings.contains(warning) {
      warning.pointer = place(warning.pointer) ?? warning.pointer
      warnings.append(warning)
    }
  }

  mutating func refuse(_ place: Place, _ code: Violation.Code, _ detail: @autoclosure () -> String) {
    if mayBeIncomplete, code == .required {
      if missing.count < RequestBounds.violations { missing.append(Violation(place.pointer, code, detail())) }
      return
    }
    guard faults.mayTell(behind: violations.count) else {
      untold += 1
      return
    }
    violations.append(Violation(place.pointer, code, detail()))
  }

  mutating func refuse(_ place: Place, _ fault: AudienceFault) {
    guard faults.mayTell(behind: violations.count) else {
      untold += 1
      return
    }
    violations.append(Violation(place.pointer, fault))
  }

  mutating func warn(_ place: Place, _ code: String, _ detail: String) {
    warnings.append(Warning(place.pointer, code, detail))
  }

  /// Throws what was found, if anything forbids to go on.
  func refuse() throws(Refusal) {
    guard !violations.isEmpty else { return }
    var told = violations
    if untold > 0 {
      told.append(.untold(untold))
    }
    throw Refusal(violations: told)
  }
}
