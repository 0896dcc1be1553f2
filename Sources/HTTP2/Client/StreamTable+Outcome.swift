import CNGHTTP2
import Domain

extension StreamTable.Slot {
  private var answer: ProviderAnswer { ProviderAnswer(status: status, headers: headers, body: body) }

  /// What the end of the stream means; nil if the owner knows already.
  func outcome(closedWith code: UInt32, refusal: String?, limits: HTTP2Settings) -> HTTP2ClientConnection.Event? {
    switch condition {
    case .reported: return nil
    case .answered: return .answered(tag, answer)
    case .notSent: return .failed(tag, .notProcessed(refusal ?? "the request was not sent"))
    case .unsendable(let reason): return .failed(tag, .unsendable(reason))
    case .tooLarge:
      return .failed(tag, .unknown("the answer exceeds \(limits.maximumHeaderBytes) bytes of headers"))
    case .working: break
    }
    let name = String(cString: nghttp2_http2_strerror(code))
    // Whoever has begun to answer has processed the request.
    if code == NGHTTP2_REFUSED_STREAM.rawValue, status == 0 {
      return .failed(tag, .notProcessed(refusal ?? name))
    }
    return .failed(tag, .unknown("the stream was reset: \(name)"))
  }

  /// It has left, as bytes that were written hold it, and no answer has come.
  func isAtWork(written: UInt64) -> Bool { condition == .working && start < written }

  /// What the end of the connection means. `written`: bytes that left; HEADERS behind them never did. `beside`: how many others
  /// were at work when the peer or the network ended it; nil: we did.
  func outcome(lostBecause reason: String, written: UInt64, beside: Int?) -> HTTP2ClientConnection.Event {
    switch condition {
    case .answered: return .answered(tag, answer)
    case .unsendable(let why): return .failed(tag, .unsendable(why))
    case .notSent: return .failed(tag, .notProcessed(reason))
    case .working, .tooLarge, .reported: break
    }
    if start >= written { return .failed(tag, .notProcessed(reason)) }
    return .failed(tag, beside.map { .lost(reason, beside: $0) } ?? .unknown(reason))
  }

  /// `isSilent`: nothing was heard on the connection since the request was made.
  func timedOut(after milliseconds: Int64, isSilent: Bool) -> HTTP2ClientConnection.Event {
    if condition == .answered { return .answered(tag, answer) }
    let text = "no answer in \(milliseconds) ms"
    // Only what nghttp2 has not made into a frame yet can still be held back.
    guard start < .max else { return .failed(tag, .notProcessed(text)) }
    return .failed(tag, isSilent ? .silent(text) : .unknown(text))
  }
}
