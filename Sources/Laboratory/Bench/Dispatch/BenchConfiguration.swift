import Configuration
import Domain
import JSON
import Processes
import TLS

/// The gateway's configuration in benchmarks: all as it comes, but for other hosts in the vendors' place, quotas and ramp-up
/// that are off, and shortened waits where faults play.
struct BenchConfiguration {
  let folder: ScratchFolder
  let socket: String
  let responders: [ProviderName: ResponderProcess]
  var connections: Int
  var shortened: Bool

  static let oneSignalApp = "8250eaf6-1a58-489e-b136-7c74a864b434"

  /// Writes the key files it names.
  func text() -> String {
    """
    {
      redis: { url: "unix:\(socket)" },
      listen: { port: 0 },
      limits: { body: "4MiB" },
      http2: { connections: \(connections) },
      ca_file: "\(folder.file("ca.pem"))",
      log_level: "warning",
      \(Self.quotas)
    \(shortened ? Self.retry : "")  apps: [
        {
          id: "bench",
          credentials: [
    \(credentials)      ],
        },
      ],
    }

    """
  }

  /// A responder on loopback has no quota; the vendors' would be all that is measured.
  static let quotas =
    #"quotas: { fcm: { per_minute: 0, ramp_up: "0s" }, onesignal: { per_minute: 0, ramp_up: "0s", times_subscribers: 0 } },"#

  private static let retry = """
      retry: {
        apns: { base: "300ms", maximum: "2s", attempts: 12, floors: { token_busy: "300ms", server_fault: "300ms" } },
      },

    """

  private var credentials: String {
    var lines = ""
    if let apns = responders[.apns] {
      _ = FileContent.write(SigningKey.generate(.es256).pem, to: folder.file("key.p8"))
      lines += """
                {
                  name: "apple", provider: "apns", key_file: "\(folder.file("key.p8"))", key_id: "BENCHMARK1",
                  team_id: "FANFARE001", topic: "com.example.app", origin: "localhost:\(apns.port)",
                },

        """
    }
    if let fcm = responders[.fcm] {
      let account = JSONValue.object([
        JSONMember("type", .string("service_account")), JSONMember("project_id", .string("bench")),
        JSONMember("private_key", .string(String(decoding: SigningKey.generate(.rs256).pem, as: UTF8.self))),
        JSONMember("client_email", .string("bench@bench.iam.gserviceaccount.com")),
        JSONMember("token_uri", .string("http://127.0.0.1:\(fcm.tokenPort)/token")),
      ])
      _ = FileContent.write(account.encoded, to: folder.file("service-account.json"))
      lines += """
                {
                  name: "google", provider: "fcm", service_account_file: "\(folder.file("service-account.json"))",
                  origin: "localhost:\(fcm.port)",
                },

        """
    }
    if let oneSignal = responders[.oneSignal] {
      _ = FileContent.write(Array("os_v2_app_benchmark".utf8), to: folder.file("onesignal.key"))
      lines += """
                {
                  name: "web", provider: "onesignal", app_id: "\(Self.oneSignalApp)",
                  api_key_file: "\(folder.file("onesignal.key"))", origin: "localhost:\(oneSignal.port)",
                },

        """
    }
    return lines
  }
}
