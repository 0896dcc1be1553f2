package import Domain

extension CredentialFacts {
  /// When it ends, in words, if that is soon; `isOver`: it has.
  package func expiryWarning(now: WallTime) -> (text: String, isOver: Bool)? {
    guard let left = shortTimeLeft(now: now) else { return nil }
    let days = left / 86_400_000
    if left <= 0 { return ("expired: get a new one from the vendor and name it in the configuration", true) }
    return ("expires in \(days == 1 ? "1 day" : "\(days) days"): renew it", false)
  }
}
