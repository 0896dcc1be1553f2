import Audience
import Domain
import HTTPServer
import Intake
import JSON
import Store

/// Expressions under a name: `audience:winback` stands for one in another.
struct NamedAudienceCalls {
  let store: Store
  let configuration: AdoptedConfiguration
  let resolver: AudienceResolver
  let uses: AudienceUses

  func listAudiences(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let audiences = try await resolver.all(call.app)
    return try await Listing.answer(all: audiences, call, columns: NamedAudience.columns, row: \.row) {
      audience, writer in
      writer.beginObject()
      audience.write(to: &writer)
      writer.endObject()
    }
  }

  func readAudience(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let name = try audienceName(of: call)
    let found: [String?]
    do throws(StoreError) {
      found = try await store.namedAudiences.find([name], app: call.app)
    } catch {
      throw Problem(error)
    }
    guard let expression = found.first ?? nil else { throw Self.noAudience }
    return Answer.json { NamedAudience(name: name, expression: expression).write(to: &$0) }
  }

  /// Messages that were accepted before keep the audience that they had: the answer warns of those that wait.
  func putAudience(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    guard let name = call.parameters.first, AudienceName.isWellFormed(name) else {
      throw Problem(.invalidAudience, "The name in the path \(AudienceName.rule)")
    }
    try Call.checkName(name, as: "name", .invalidAudience)
    let reading = try reading(of: call)
    let audience = NamedAudience(name: name, expression: reading.expression.canonical)
    let change = try await changeAudiences(call.app) { edition throws(Problem) in
      // Looked at from its own name, an expression that leads back to it is a circle.
      _ = try await resolver.writtenOut(
        .term(.audience(name)), call, at: reading.pointer, text: reading.text, .invalidAudience,
        assuming: [name: reading.expression])
      do throws(StoreError) {
        return try await store.namedAudiences.keep(audience, app: call.app, edition: edition)
      } catch {
        throw Problem(error)
      }
    }
    guard change != .full else {
      throw Problem(
        .invalidAudience,
        "An app may have at most \(NamedAudiences.maximum) named audiences: delete one that is not used")
    }
    let warnings = change == .added ? [] : try await notices(of: name, isDeleted: false, call)
    return Answer.json(change == .added ? 201 : 200) { writer in
      audience.write(to: &writer)
      writer.objects("warnings", warnings) { $1.writeMembers(to: &$0) }
    }
  }

  func reading(of call: Call) throws(Problem) -> AudienceReading {
    try call.audience(as: .namedAudience, providers: configuration.tokenRules)
  }

  private func notices(of name: String, isDeleted: Bool, _ call: Call) async throws(Problem) -> [Notice] {
    try await uses.notices(of: name, isDeleted: isDeleted, resolver.all(call.app), call.app)
  }

  /// Refused while another audience is made of it. The answer warns of drafts and messages that name it.
  func deleteAudience(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let name = try audienceName(of: call)
    let change = try await changeAudiences(call.app) { edition throws(Problem) in
      let users = try await resolver.all(call.app).filter { audience in
        (try? AudienceExpression(parsing: audience.expression))?.names.contains(name) == true && audience.name != name
      }
      guard users.isEmpty else {
        let list = users.prefix(20).map { "`\($0.name)`" }.joined(separator: ", ")
        throw Problem(.audienceInUse, "It is part of \(list): change them first")
      }
      do throws(StoreError) {
        return try await store.namedAudiences.remove(name, app: call.app, edition: edition)
      } catch {
        throw Problem(error)
      }
    }
    guard change == .removed else { throw Self.noAudience }
    let warnings = try await notices(of: name, isDeleted: true, call)
    guard !warnings.isEmpty else { return HTTPServerResponse(status: 204) }
    return Answer.json { writer in
      writer.member("name", name)
      writer.objects("warnings", warnings) { $1.writeMembers(to: &$0) }
    }
  }

  /// Judges and changes as long as others come between: what was judged is what is there when it is changed.
  private func changeAudiences(
    _ app: AppID, _ change: (_ edition: Int64) async throws(Problem) -> NamedAudiences.Change
  ) async throws(Problem) -> NamedAudiences.Change {
    for _ in 0..<Self.changeAttempts {
      let edition: Int64
      do throws(StoreError) {
        edition = try await store.namedAudiences.edition(app: app)
      } catch {
        throw Problem(error)
      }
      let done = try await change(edition)
      if done != .crossed { return done }
    }
    throw Problem(StoreError.unavailable("too many requests change the audiences at once", retryAfter: 1))
  }
  private static let changeAttempts = 20

  private static var noAudience: Problem { Problem(.notFound, "No audience has this name") }

  private func audienceName(of call: Call) throws(Problem) -> String {
    guard let name = call.parameters.first, AudienceName.isWellFormed(name) else { throw Self.noAudience }
    return name
  }
}

extension NamedAudience {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.member("name", name)
    writer.member("audience", expression)
  }
  fileprivate static let columns = ["name", "audience"]
  fileprivate var row: [String] { [name, expression] }
}
