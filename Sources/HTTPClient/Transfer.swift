import CCurl
import Domain
import Glibc

/// One request on one of libcurl's easy handles, and the answer as it comes. libcurl holds a pointer to it from `start`
/// until the client has taken the handle out.
final class Transfer {
  let easy: UnsafeMutableRawPointer
  let done: (Result<ProviderAnswer, HTTPClientFailure>) -> Void
  private let maximumHead: Int
  private let maximumBody: Int
  private let problem = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  private var lines: UnsafeMutablePointer<curl_slist>?
  /// What goes out, and how much of it has gone.
  private var request: (body: [UInt8], sent: Int) = ([], 0)
  private var headers: [Header] = []
  private var headSize = 0
  private var body: [UInt8] = []
  private var hasLongHead = false
  private var isCut = false
  /// Takes the body of a success as it comes, until it says false; nil: it is kept.
  private let receive: (([UInt8]) -> Bool)?

  /// `easy` is fresh or reset, and stays the client's.
  init(
    easy: UnsafeMutableRawPointer, settings: HTTPClientSettings, receive: (([UInt8]) -> Bool)?,
    done: @escaping (Result<ProviderAnswer, HTTPClientFailure>) -> Void
  ) {
    self.easy = easy
    self.done = done
    self.receive = receive
    maximumHead = settings.maximumHead
    maximumBody = settings.maximumBody
    problem.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    curl_slist_free_all(lines)
    problem.deallocate()
  }

  // MARK: Settings

  /// Sets the handle up for `request`, which has no fault.
  func prepare(_ request: HTTPClientRequest, _ settings: HTTPClientSettings) {
    fanfare_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, problem)
    set(CURLOPT_URL, request.url)
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    // Proxies from the environment would see what is meant for the provider only.
    set(CURLOPT_PROXY, "")
    set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_TCP_KEEPALIVE, 1)
    set(CURLOPT_DNS_CACHE_TIMEOUT, 0)
    set(CURLOPT_MAXLIFETIME_CONN, Self.connectionLife)
    set(CURLOPT_TIMEOUT_MS, Int(max(1, request.timeout)))
    set(CURLOPT_CONNECTTIMEOUT_MS, Int(max(1, settings.connectTimeout)))
    set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    set(CURLOPT_SSL_VERIFYPEER, 1)
    set(CURLOPT_SSL_VERIFYHOST, 2)
    if let file = settings.caFile {
      set(CURLOPT_CAINFO, file)
      fanfare_curl_set_pointer(easy, CURLOPT_CAPATH, nil)
    }
    setMethod(request)
    setHeaders(request)
    fanfare_curl_set_receivers(
      easy, { Transfer.from($3).receiveLine($0, $1 * $2) }, { Transfer.from($3).receivePiece($0, $1 * $2) },
      Unmanaged.passUnretained(self).toOpaque())
  }

  /// Seconds after which a connection is not used again, so that a changed address is noticed.
  private static let connectionLife = 600

  private func setMethod(_ request: HTTPClientRequest) {
    switch (request.method, request.body.isEmpty) {
    case ("GET", true): set(CURLOPT_HTTPGET, 1)
    case ("HEAD", true): set(CURLOPT_NOBODY, 1)
    case ("DELETE", true), ("OPTIONS", true): set(CURLOPT_CUSTOMREQUEST, request.method)
    default:
      set(CURLOPT_POST, 1)
      fanfare_curl_set_size(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count))
      self.request = (request.body, 0)
      fanfare_curl_set_senders(
        easy, { Transfer.from($3).sendPiece($0, $1 * $2) },
        // What has gone out goes out once: libcurl gives up in place of sending it again.
        { context, _, _ in Transfer.from(context).request.sent == 0 ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL },
        Unmanaged.passUnretained(self).toOpaque())
      if request.method != "POST" { set(CURLOPT_CUSTOMREQUEST, request.method) }
    }
  }

  private func setHeaders(_ request: HTTPClientRequest) {
    // Neither wait for 100-continue, nor name a type that the caller did not.
    lines = curl_slist_append(lines, "Expect:")
    if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
      lines = curl_slist_append(lines, "Content-Type:")
    }
    for header in request.headers {
      switch header.name.lowercased() {
      case "content-length", "transfer-encoding", "expect": continue
      // libcurl's sign for a header without a value.
      case let name where header.value.isEmpty: lines = curl_slist_append(lines, "\(name);")
      default: lines = curl_slist_append(lines, "\(header.name): \(header.value)")
      }
    }
    fanfare_curl_set_pointer(easy, CURLOPT_HTTPHEADER, lines)
  }

  private func set(_ option: CURLoption, _ value: Int) { check(fanfare_curl_set(easy, option, value)) }
  private func set(_ option: CURLoption, _ text: String) {
    check(text.withCString { fanfare_curl_set_pointer(easy, option, $0) })
  }
  /// All options are known to the libcurl that we link.
  private func check(_ code: CURLcode) {
    precondition(code == CURLE_OK, "libcurl refuses an option: \(String(cString: curl_easy_strerror(code)))")
  }

  // MARK: The answer

  private static func from(_ context: UnsafeMutableRawPointer?) -> Transfer {
    Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
  }

  /// How much of the body is given, 0 at its end.
  private func sendPiece(_ start: UnsafeMutablePointer<CChar>?, _ room: Int) -> Int {
    let count = min(room, request.body.count - request.sent)
    guard let start, count > 0 else { return 0 }
    request.body.withUnsafeBytes { body in
      UnsafeMutableRawPointer(start).copyMemory(from: body.baseAddress! + request.sent, byteCount: count)
    }
    request.sent += count
    return count
  }

  /// What is taken; less makes libcurl fail the transfer. So does `receivePiece`.
  private func receiveLine(_ start: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    let line = UnsafeRawBufferPointer(start: start, count: count)
    headSize += count
    guard headSize <= maximumHead else {
      hasLongHead = true
      return 0
    }
    if line.starts(with: "HTTP/".utf8) {
      // A new head: what came before was an interim one.
      headers = []
    } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
      let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
      let value = line[(colon + 1)...].drop(while: Self.isSpace)
      let end = value.lastIndex { !Self.isSpace($0) }.map { $0 + 1 } ?? value.startIndex
      headers.append(Header(name, String(decoding: value[..<end], as: UTF8.self)))
    }
    return count
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }

  private func receivePiece(_ start: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    if let receive, (200..<300).contains(fanfare_curl_number(easy, CURLINFO_RESPONSE_CODE)) {
      isCut = !receive(Array(UnsafeRawBufferPointer(start: start, count: count)))
      return isCut ? 0 : count
    }
    let taken = min(count, maximumBody - body.count)
    body.append(contentsOf: UnsafeRawBufferPointer(start: start, count: taken))
    isCut = taken < count
    return taken
  }

  /// What came of it, once libcurl has ended the transfer. A body beyond the limit is cut off there.
  func result(_ code: CURLcode) -> Result<ProviderAnswer, HTTPClientFailure> {
    if code == CURLE_OK || isCut {
      let status = fanfare_curl_number(easy, CURLINFO_RESPONSE_CODE)
      return .success(ProviderAnswer(status: status, headers: headers, body: body))
    }
    if code == CURLE_SEND_FAIL_REWIND { return .failure(HTTPClientFailure(reason: Self.closed, processed: true)) }
    if hasLongHead { return .failure(failure("the answer's head is larger than \(maximumHead) bytes")) }
    return .failure(failure(String(cString: problem.pointee == 0 ? curl_easy_strerror(code) : UnsafePointer(problem))))
  }

  private static let closed = "the connection was closed without an answer"

  /// What is sent of a request's head counts: without it the peer can have processed nothing.
  func failure(_ reason: String) -> HTTPClientFailure {
    HTTPClientFailure(reason: reason, processed: fanfare_curl_number(easy, CURLINFO_REQUEST_SIZE) > 0)
  }
}
