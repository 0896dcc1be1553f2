import Domain
import HTTPServer
import Intake
import JSON
import Store
import TLS

/// `/v1/channels`: broadcast channels of Live Activities. They live at the provider; all that is stored of them here is
/// which app made them.
struct ChannelCalls {
  let store: Store
  let configuration: AdoptedConfiguration
  let channels: BroadcastChannels

  func createChannel(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let reading = try reading(of: call)
    let place = ChannelPlace(bundleID: reading.bundleID, environment: reading.environment)
    let reply = try await carryOut(.create(keepsNewest: reading.keepsNewest), place, call)
    guard case .created(let id) = reply else { throw Problem.unexpected(reply) }
    do throws(StoreError) {
      try await store.channels.made(id, in: place.environment, by: call.app)
    } catch {
      var problem = Problem(error)
      problem.detail +=
        ". The channel \(id) was created, and other apps with this credential's team may use it: delete it"
      throw problem
    }
    let headers = [Header("location", "/v1/channels/\(ChannelName.step(id))\(place.query)")]
    return Answer.json(201, headers: headers) { place.write(id, keepsNewest: reading.keepsNewest, to: &$0) }
  }

  func reading(of call: Call) throws(Problem) -> ChannelReading {
    try call.read(.invalidChannel) { document throws(Refusal) in try ChannelReader.read(document) }
  }

  func listChannels(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let place = ChannelPlace(call)
    let reply = try await carryOut(.list, place, call)
    guard case .listed(let all) = reply else { throw Problem.unexpected(reply) }
    let ids = try await own(all, place, call)
    return try await Listing.answer(
      all: ids, call, columns: ["id", "environment", "bundle_id"],
      row: { [$0, place.environment.rawValue, place.bundleID ?? ""] },
      write: { id, writer in
        writer.beginObject()
        place.write(id, keepsNewest: nil, to: &writer)
        writer.endObject()
      })
  }

  func readChannel(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let place = ChannelPlace(call)
    let id = try await ownID(place, call)
    switch try await carryOut(.read(id), place, call) {
    case .found(let keepsNewest): return Answer.json { place.write(id, keepsNewest: keepsNewest, to: &$0) }
    case .unknown: throw Self.noChannel
    case let reply: throw Problem.unexpected(reply)
    }
  }

  /// Of a channel that is gone already too, so that a repeat is safe.
  func deleteChannel(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let place = ChannelPlace(call)
    let id = try await ownID(place, call)
    let reply = try await carryOut(.delete(id), place, call)
    guard case .deleted = reply else { throw Problem.unexpected(reply) }
    do throws(StoreError) { try await store.channels.gone(id, from: place.environment) } catch { throw Problem(error) }
    return HTTPServerResponse(status: 204)
  }

  private static var noChannel: Problem {
    Problem(.notFound, "The provider has no such channel of this app in this environment")
  }

  private func own(_ ids: [String], _ place: ChannelPlace, _ call: Call) async throws(Problem) -> [String] {
    do throws(StoreError) {
      return try await store.channels.open(ids, in: place.environment, to: call.app)
    } catch {
      throw Problem(error)
    }
  }

  /// That of the path, unless another app has made it.
  private func ownID(_ place: ChannelPlace, _ call: Call) async throws(Problem) -> String {
    guard let id = try await own([try ChannelName.id(of: call)], place, call).first else { throw Self.noChannel }
    return id
  }

  private func carryOut(
    _ channelCall: ChannelCall, _ place: ChannelPlace, _ call: Call
  ) async throws(Problem) -> ChannelReply {
    let app = try configuration.tenant(call.app)
    let address = Address(
      provider: .apns, token: "", tokenKind: .channel, environment: place.environment, bundleID: place.bundleID)
    guard let id = app.credential(for: address), let account = configuration.accounts[id] as? any ChannelAccount else {
      let what = place.bundleID.map { "`\($0)`" } ?? "the default bundle id"
      throw Problem(
        .invalidChannel,
        "No credential of this app manages channels of \(what) in the \(place.environment.rawValue) environment; "
          + "choose another with `bundle_id` and `environment`")
    }
    let request = UUIDBytes.v5(namespace: Self.channelNamespace, name: SecureRandom.bytes(16))
    let reply: ChannelReply
    do throws(BroadcastChannels.Failure) {
      reply = try await channels.carryOut(channelCall, account, bundleID: place.bundleID, id: request)
    } catch {
      throw Problem(error, channelCall)
    }
    if case .refused(let refusal) = reply {
      if refusal.cause == .bundle, let bundleID = place.bundleID {
        throw Problem(refusal, of: bundleID, account, inQuery: call.request.query("bundle_id") != nil)
      }
      throw Problem(refusal)
    }
    return reply
  }

  private static let channelNamespace = UUIDBytes(high: 0x6661_6e66_6172_6540, low: 0x8063_6861_6e6e_656c)
}

/// Where a channel lives.
struct ChannelPlace {
  var bundleID: String?
  var environment: Environment

  init(bundleID: String?, environment: Environment) {
    self.bundleID = bundleID
    self.environment = environment
  }

  init(_ call: Call) {
    environment = .production
    environment = call.request.query("environment").flatMap { Environment(rawValue: $0) } ?? .production
    bundleID = call.request.query("bundle_id")
  }

  /// As it goes behind a path.
  var query: String {
    let parts = [
      environment == .production ? nil : "environment=\(environment.rawValue)", bundleID.map { "bundle_id=\($0)" },
    ].compactMap { $0 }
    return parts.isEmpty ? "" : "?" + parts.joined(separator: "&")
  }

  func write(_ id: String, keepsNewest: Bool?, to writer: inout JSONWriter) {
    writer.member("id", id)
    writer.member("environment", environment.rawValue)
    writer.member("bundle_id", bundleID)
    writer.member("message_storage", keepsNewest.map { ($0 ? MessageStorage.newest : .none).rawValue })
  }
}

/// Ids are base64 and hold `/`, `+` and `=`. In a path they stand with `_` and `-` as base64url has them; their own
/// form with percent escapes is taken too.
enum ChannelName {
  static func step(_ id: String) -> String {
    id.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "%3D")
  }

  static func id(of call: Call) throws(Problem) -> String {
    let id = (call.parameters.first ?? "").replacing("-", with: "+").replacing("_", with: "/")
    guard ChannelReader.isChannelID(id) else {
      throw Problem(.notFound, "This is not a channel id: an id is base64, and a path uses `-` for `+` and `_` for `/`")
    }
    return id
  }
}

extension Problem {
  fileprivate init(_ failure: BroadcastChannels.Failure, _ call: ChannelCall) {
    switch failure {
    case .unauthorized(let reason): self.init(.providerRefused, "The credential cannot be used: \(reason)")
    case .nowhere(let reason): self.init(.invalidChannel, "No request was sent to the provider: \(reason)")
    case .unreachable(let reason, processed: false):
      self.init(.providerUnavailable, "The provider cannot be reached (\(reason)); nothing was done", retryAfter: 5)
    case .unreachable(let reason, processed: true):
      var detail = "The provider gave no answer (\(reason))"
      if case .create = call { detail += ": a channel may have been created; list the channels before you try again" }
      self.init(.providerUnavailable, detail, retryAfter: 5)
    }
  }

  fileprivate init(_ refusal: ChannelRefusal) {
    let advice = refusal.advice.map { ": \($0)" } ?? ""
    switch refusal.cause {
    case .full:
      self.init(
        .channelLimit, "This app has reached the provider's limit of 10,000 channels in this environment: delete some")
    case .passing:
      self.init(.providerUnavailable, "The provider says \(refusal.reason)\(advice); try again later", retryAfter: 30)
    case .request, .bundle, .credential, .authorizationExpired:
      self.init(.providerRefused, "The provider says \(refusal.reason)\(advice)")
    }
  }

  /// Of a bundle id that the caller has chosen.
  fileprivate init(_ refusal: ChannelRefusal, of bundleID: String, _ account: any ChannelAccount, inQuery: Bool) {
    let topics = account.facts.topics
    let fix =
      topics.isEmpty
      ? "use a bundle id of the credential's team" : "its topics are \(topics.joined(separator: ", "))"
    var violation = Violation(
      inQuery ? "" : "/bundle_id", .notAllowed,
      "`bundle_id`: the credential \(account.credential.rawValue) is not for \(bundleID) (the provider says "
        + "\(refusal.reason)); \(fix)")
    if inQuery { violation.parameter = "bundle_id" }
    self.init(.invalidChannel, violation.detail, violations: [violation])
  }

  fileprivate static func unexpected(_ reply: ChannelReply) -> Problem {
    preconditionFailure("\(reply) answers another call")
  }
}
