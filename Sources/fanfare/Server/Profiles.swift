import CommandFrame
import Configuration
import Domain
import Glibc
import JSON

/// Servers with their keys, kept under names in a file that only this user can read: `$XDG_CONFIG_HOME/fanfare/profiles.json`.
struct Profiles {
  struct Profile: Equatable {
    var url: String
    var key: String
  }
  /// Used where no other is named.
  static let usual = "default"

  private(set) var byName: [String: Profile] = [:]

  struct Unreadable: Error { let path: String }

  static var path: String? {
    UserFolder.path(named: "XDG_CONFIG_HOME", else: ".config").map { $0 + "/profiles.json" }
  }

  /// Empty where there is no file.
  init() throws(Unreadable) {
    guard let path = Self.path, FileContent.exists(path) else { return }
    guard let bytes = FileContent.read(path), let document = try? JSON.parse(bytes), let members = document.object
    else {
      throw Unreadable(path: path)
    }
    for member in members {
      guard let url = member.value["url"]?.string, let key = member.value["key"]?.string else {
        throw Unreadable(path: path)
      }
      byName[member.key] = Profile(url: url, key: key)
    }
  }

  mutating func set(_ name: String, _ profile: Profile?) { byName[name] = profile }

  /// False if the file cannot be written.
  func save() -> Bool {
    guard let folder = UserFolder.make(named: "XDG_CONFIG_HOME", else: ".config") else { return false }
    let members = byName.sorted { $0.key < $1.key }.map { name, profile in
      JSONMember(name, .object([JSONMember("url", .string(profile.url)), JSONMember("key", .string(profile.key))]))
    }
    // A whole file or none: it holds keys that are shown nowhere again.
    let new = folder + "/profiles.json.new"
    return FileContent.write(Array((PrettyJSON.text(.object(members)) + "\n").utf8), to: new)
      && rename(new, folder + "/profiles.json") == 0
  }

  static func isName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
          || "-_.".utf8.contains($0)
      }
  }
}
