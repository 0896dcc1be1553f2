import Domain
import HTTPServer
import Intake
import JSON
import Store

extension Service {
  /// Everything that is kept of a user: its tags, and the devices registered for it.
  func readUser(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let user = try user(of: call)
    let found: StoredUser?
    do throws(StoreError) {
      found = try await store.users.user(user, app: call.app)
    } catch {
      throw Problem(error)
    }
    guard let found else { throw Self.noUser }
    return Answer.json { writer in
      writer.member("user", user)
      writer.member("tags", JSONValue.array(found.tags.map { .string($0) }))
      writer.objects("devices", found.devices) { $1.write(to: &$0) }
    }
  }

  /// Repeating it is no fault: a privacy request ends with nobody left.
  func deleteUser(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let user = try user(of: call)
    let removed: Int
    do throws(StoreError) {
      removed = try await store.users.remove(user, app: call.app)
    } catch {
      throw Problem(error)
    }
    return Answer.json { writer in
      writer.member("user", user)
      writer.member("devices_deleted", removed)
    }
  }

  static var noUser: Problem { Problem(.notFound, "No device is registered for this user") }

  func user(of call: Call) throws(Problem) -> String {
    guard let user = call.parameters.first, DeviceReader.isUser(user) else { throw Self.noUser }
    return user
  }
}
