import Audience
import Domain
import HTTPServer
import Intake
import JSON
import Store

/// How many are in an audience.
struct AudienceCalls {
  let store: Store
  let configuration: AdoptedConfiguration
  let resolver: AudienceResolver
  let preparation: MessagePreparation
  let forecaster: Forecaster

  /// `POST /v1/audiences/count`: who is in it, exact and of the moment, and what would come of a message to it: the one
  /// in `message`, or a plain alert.
  func countAudience(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let (reading, message, document) = try reading(of: call)
    let expression = try await resolver.writtenOut(
      reading.expression, call, at: reading.pointer, text: reading.text, .invalidAudience)
    let forecast: Forecast
    let warnings: [Notice]
    do throws(Problem) {
      (forecast, warnings) = try await forecaster.count(message, call, document: document)
    } catch {
      throw error.moved(Self.pointer)
    }
    let selection = AudienceSelection(expression: expression, reach: reading.reach, providers: reading.providers)
    // Of a user the latest device is the latest that the message can go to, as when it is sent.
    let carries = configuration.resolver(try configuration.tenant(call.app), message).carries
    let count: AudienceCount
    do throws(StoreError) {
      count = try await store.audiences.count(selection, app: call.app, now: call.now, carries: carries)
    } catch {
      throw Problem(error)
    }
    return Answer.json { writer in
      writer.member("audience", reading.expression.canonical)
      writer.member("reach", reading.reach.rawValue)
      count.write(to: &writer)
      forecast.write(to: &writer)
      writer.objects("warnings", warnings) { writer, warning in
        var warning = warning
        warning.pointer = Self.pointer(warning.pointer)
        warning.writeMembers(to: &writer)
      }
    }
  }

  /// The audience, and the message to it, which is whole in the document too.
  func reading(of call: Call) throws(Problem) -> (AudienceReading, Message, JSONValue) {
    let request = try call.document()
    var audience: AudienceReading?
    var violations: [Violation] = []
    do throws(Problem) {
      audience = try call.audience(as: .audience, providers: configuration.tokenRules)
    } catch {
      guard request.object != nil else { throw error }
      violations = error.violations
    }
    violations += Self.misplaced(in: request)
    let document = Self.message(countedBy: request)
    do throws(Problem) {
      let message = try preparation.read(document, call).message
      if let audience, violations.isEmpty { return (audience, message, document) }
    } catch {
      // What the audience's own reader has told is not told twice.
      violations += error.moved(Self.pointer).violations.filter {
        audience != nil || $0.pointer.hasPrefix("/message/")
      }
    }
    throw Problem(Refusal(violations: violations), .invalidAudience)
  }

  /// Where the request has what the counted message has at `pointer`.
  private static func pointer(_ pointer: String) -> String {
    let steps = pointer.split(separator: "/")
    guard let first = steps.first.map(String.init) else { return pointer }
    if first == "to" { return steps.dropFirst().map { "/\($0)" }.joined() }
    return membersOfCount.contains(first) ? pointer : "/message\(pointer)"
  }

  /// What a message says of its recipients, and where a request to count says it.
  private static let membersOfCount = ["reach", "providers"]

  private static func misplaced(in request: JSONValue) -> [Violation] {
    (["to"] + membersOfCount).filter { request["message"]?[$0] != nil }.map { name in
      Violation("/message/\(name)", .notAllowed, "recipients belong beside `message`: leave `\(name)` out here")
    }
  }

  /// The message whose recipients the request counts.
  private static func message(countedBy request: JSONValue) -> JSONValue {
    let alert = [JSONMember("notification", .object([JSONMember("title", .string("-"))]))]
    var members = request["message"]?.object ?? alert
    members.set(
      "to", .object((request.object ?? []).filter { $0.key != "message" && !membersOfCount.contains($0.key) }))
    for name in membersOfCount { members.set(name, request[name]) }
    return .object(members)
  }
}

extension AudienceCount {
  func write(to writer: inout JSONWriter) {
    writer.member("total", total)
    writer.objects("by_provider", byProvider.sorted(by: { $0.key.rawValue < $1.key.rawValue })) { writer, item in
      let (provider, some) = item
      writer.member("provider", provider.rawValue)
      writer.member("count", some)
    }
    writer.objects("by_platform", byPlatform.sorted(by: { $0.key < $1.key })) { writer, item in
      let (platform, some) = item
      // Devices that have told none.
      if !platform.isEmpty { writer.member("platform", platform) }
      writer.member("count", some)
    }
  }
}
