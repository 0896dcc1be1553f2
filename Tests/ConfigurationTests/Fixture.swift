import APNs
import Configuration
import Domain
import FCM
import Glibc
import OneSignal
import WebPush

/// The providers themselves.
let allProviders: [any PushProvider] = [APNsProvider(), FCMProvider(), OneSignalProvider(), WebPushProvider()]

/// What the providers take and ask for, as the configuration is told by whoever wires them.
let providers: [ProviderName: ProviderTerms] = {
  let settings: [ProviderName: [CredentialSetting]] = [
    .apns: [
      CredentialSetting("key_file", .secretFile, required: true, help: "the .p8 key"),
      CredentialSetting("key_id", required: true, help: "the key's id"),
      CredentialSetting("team_id", required: true, help: "the team's id"),
      CredentialSetting("topic", required: true, help: "the bundle id"),
    ],
    .fcm: [CredentialSetting("service_account_file", .secretFile, required: true, help: "the key file")],
    .oneSignal: [
      CredentialSetting("app_id", required: true, help: "the app's id"),
      CredentialSetting("api_key_file", .secretFile, required: true, help: "the key"),
    ],
    .webPush: WebPushProvider().settings,
  ]
  return Dictionary(
    uniqueKeysWithValues: allProviders.map {
      ($0.name, ProviderTerms(settings: settings[$0.name] ?? [], retry: $0.retry, quota: $0.quota))
    })
}()

/// A folder with key files, removed with the test.
final class Folder {
  let path: String

  init() {
    var template = Array("/tmp/ffconfig.XXXXXX".utf8CString)
    precondition(mkdtemp(&template) != nil)
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    mkdir("\(path)/keys", 0o700)
  }

  deinit {
    for folder in ["\(path)/keys", path] {
      guard let stream = opendir(folder) else { continue }
      while let entry = readdir(stream) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        unlink("\(folder)/\(name)")
      }
      closedir(stream)
      rmdir(folder)
    }
  }

  func write(_ name: String, _ content: String = "secret\n", mode: mode_t = 0o600) {
    let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    precondition(file >= 0)
    let bytes = Array(content.utf8)
    precondition(bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) } == bytes.count)
    close(file)
    chmod("\(path)/\(name)", mode)
  }

  /// The faults of a configuration, as pointers and whole texts.
  func faults(_ text: String) -> [ConfigurationFault] {
    do {
      _ = try Configuration.parse(Array(text.utf8), folder: path, file: "test", providers: providers)
      return []
    } catch { return error.faults }
  }

  func parse(_ text: String, _ terms: [ProviderName: ProviderTerms] = providers) throws -> Configuration {
    try Configuration.parse(Array(text.utf8), folder: path, file: "test", providers: terms)
  }

  static let app = """
    apps: [{ id: "shop", credentials: [{ name: "google", provider: "fcm", service_account_file: "keys/google" }] }]
    """
}
