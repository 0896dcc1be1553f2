import Domain
import HTTPServer
import Intake
import JSON
import Store

/// Tags of devices and users, and which are in use.
struct TagCalls {
  let store: Store
  let stock: TagStock

  /// `PATCH /v1/devices/{id}/tags`: in one step, so that two changes at once both hold.
  func changeDeviceTags(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let id = try call.deviceID()
    let edit = try edit(ofDevice: call)
    try await stock.check((edit.replace ?? []) + edit.add, call.app)
    let result: TagChange.Result
    do throws(StoreError) {
      result = try await store.devices.changeTags(of: id, TagChange(edit), app: call.app)
    } catch {
      throw Problem(error)
    }
    return try answer(result, ("id", id.rawValue), warnings: [], else: Problem.noDevice)
  }

  /// `PUT /v1/users/{user}/tags`: on every device of the user, also on those registered later.
  func putUserTags(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    try await changeUserTags(call, edit(ofUser: call))
  }

  /// `PATCH /v1/users/{user}/tags`: in one step, so that two changes at once both hold.
  func changeUserTags(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    try await changeUserTags(call, edit(ofDevice: call))
  }

  private func changeUserTags(_ call: Call, _ edit: TagEdit) async throws(Problem) -> HTTPServerResponse {
    let user = try call.user()
    try await stock.check((edit.replace ?? []) + edit.add, call.app)
    let result: TagChange.Result
    do throws(StoreError) {
      result = try await store.users.changeTags(ofUser: user, TagChange(edit), app: call.app)
    } catch {
      throw Problem(error)
    }
    let devices: [[StoredDevice]]?
    do throws(StoreError) {
      devices = try await store.users.devices(ofUsers: [user], app: call.app, atMost: .max)
    } catch {
      throw Problem(error)
    }
    let isNew = devices?.first?.isEmpty == true
    let notice = Notice(
      pointer: "", code: "no_devices",
      detail: "no device is registered for the user `\(user)`: devices that register for it get these tags")
    return try answer(result, ("user", user), warnings: isNew ? [notice] : [], else: Problem.noUser)
  }

  /// `GET /v1/tags`: tags in use, with how many devices have them.
  func listTags(_ call: Call) async throws(Problem) -> HTTPServerResponse {
    let prefix = call.request.query("prefix") ?? ""
    let listing = Listing<TagCount>(
      write: { item, writer in
        writer.beginObject()
        writer.member("tag", item.tag)
        writer.member("device_count", item.devices)
        writer.endObject()
      }, columns: ["tag", "device_count"], row: { [$0.tag, String($0.devices)] },
      page: { [self] cursor, limit throws(Problem) in
        let place = try cursor.map { cursor throws(Problem) in
          try call.place(of: cursor, marked: Self.tagMark) { $0 }
        }
        do throws(StoreError) {
          let page = try await store.tags.page(call.app, prefix: prefix, limit: limit, cursor: place)
          return ListingPage(items: page.items, next: page.next.map { call.cursor(at: $0, marked: Self.tagMark) })
        } catch {
          throw Problem(error)
        }
      })
    return try await listing.answer(call)
  }

  private static let tagMark = "t:"

  func edit(ofDevice call: Call) throws(Problem) -> TagEdit { try call.read(.invalidTags, TagReader.edit) }

  func edit(ofUser call: Call) throws(Problem) -> TagEdit { try call.read(.invalidTags, TagReader.userTags) }

  private func answer(
    _ result: TagChange.Result, _ name: (key: String, value: String), warnings: [Notice], else missing: Problem
  ) throws(Problem) -> HTTPServerResponse {
    switch result {
    case .changed(let tags):
      return Answer.json { writer in
        writer.member(name.key, name.value)
        writer.member("tags", JSONValue.array(tags.map { .string($0) }))
        writer.objects("warnings", warnings) { $1.writeMembers(to: &$0) }
      }
    case .tooMany(let count):
      throw Problem(
        .invalidTags, "The device would have \(count) tags; the limit is \(Tag.maximumPerDevice): nothing was changed")
    case .noDevice: throw missing
    }
  }
}

extension TagChange {
  fileprivate init(_ edit: TagEdit) { self.init(replace: edit.replace, add: edit.add, remove: edit.remove) }
}
