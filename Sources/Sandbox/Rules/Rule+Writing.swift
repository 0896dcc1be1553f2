import JSON

extension Rule {
  /// The members of the rule's JSON form, as `PUT /rules` takes them.
  func writeMembers(to writer: inout JSONWriter) {
    writer.member("name", name)
    writer.member("provider", provider?.word)
    if token != "*" { writer.member("token", token) }
    if share < 1 {
      writer.key("share")
      writer.double(share)
    }
    writer.member("times", times)
    writer.member("times_per_token", timesPerToken)
    if after > 0 { writer.member("after", after) }
    if when == .after { writer.member("when", when.rawValue) }
    if delay > 0 { writer.member("delay_ms", delay) }
    writer.member("status", reply?.status)
    writer.member("reason", reply?.reason)
    writer.member("timestamp", reply?.timestamp)
    if let seconds = reply?.retryAfter.flatMap({ Int($0) }) {
      writer.member("retry_after", seconds)
    } else {
      writer.member("retry_after", reply?.retryAfter)
    }
    writer.member("body", reply?.body)
    writer.member("body_bytes", reply?.bodyBytes)
    switch action {
    case nil: break
    case .goaway(let code, let reason):
      writer.member("action", "goaway")
      writer.member("code", code)
      writer.member("reason", reason)
    case .reset(let code):
      writer.member("action", "reset")
      writer.member("code", code)
    case .stall: writer.member("action", "stall")
    case .headers(let bytes):
      writer.member("action", "headers")
      writer.member("bytes", bytes)
    case .hpack: writer.member("action", "hpack")
    case .expire: writer.member("action", "expire")
    case .certificate(let fault):
      writer.member("action", "certificate")
      writer.member("certificate", fault.rawValue)
    case .handshake(let every):
      writer.member("action", "handshake")
      writer.member("every_ms", every)
    case .close: writer.member("action", "close")
    case .streams(let streams):
      writer.member("action", "settings")
      writer.member("streams", streams)
    }
  }
}
