import API
import Domain
import JSON
import Support
import Testing

@testable import fanfare

@Suite("A message is rendered without a server")
struct RenderTests {
  private func message(_ kind: Kind, _ change: (inout Message) -> Void = { _ in }) -> Message {
    var message = Message(to: .users(["sample"]), kind: kind)
    change(&message)
    return message
  }

  @Test("an alert makes a request of each provider and kind of token, with made-up accounts, and no secret in it")
  func alert() throws {
    let alert = message(.alert) {
      $0.notification = Notification()
      $0.notification?.title = "T"
    }
    let (samples, faults) = SampleRequests.make(alert, SampleAccounts.make(), startedAt: WallTime(seconds: 1))
    #expect(faults.isEmpty)
    #expect(
      samples.map { "\($0.provider.rawValue) \($0.tokenKind.rawValue)" } == [
        "apns device", "fcm device", "fcm fid", "onesignal device", "webpush device",
      ])
    for sample in samples {
      #expect(sample.url.hasPrefix("https://"))
      // Of two accounts of a provider each says which it is.
      #expect(sample.text.split(separator: "\n").first?.hasSuffix(", \(sample.credential.rawValue)") == true)
      #expect(sample.request.headers.first { $0.name == "authorization" }?.value == "***")
      #expect(try #require(sample.bytesLeft) > 0)
      var writer = JSONWriter()
      sample.write(to: &writer)
      #expect(try JSON.parse(writer.bytes)["body"]?.object != nil)
      #expect(sample.text.contains(/\d bytes/))
      #expect(sample.limit == nil || sample.text.contains(" bytes of the limit"))
    }
  }

  @Test("texts are those of the sample device: its language, its attributes, and a name where it has no value")
  func personal() throws {
    let greeting = message(.alert) {
      $0.notification = Notification()
      $0.notification?.body = "Hi {{first_name}}"
      $0.notification?.localized = [LocalizedText(language: "de", body: "Hallo {{first_name}}")]
    }
    func bodies(_ facts: DeviceFacts) -> Set<String> {
      let (samples, _) = SampleRequests.make(
        greeting, SampleAccounts.make(), facts: facts, startedAt: WallTime(seconds: 1))
      return Set(
        samples.filter { $0.provider == .apns }.compactMap {
          (try? JSON.parse($0.request.body))?["aps"]?["alert"]?["body"]?.string
        })
    }
    #expect(bodies(DeviceFacts()) == ["Hi first_name"])
    let ana = DeviceFacts(language: "de-AT", attributes: [JSONMember("first_name", .string("Ana"))])
    #expect(bodies(ana) == ["Hallo Ana"])
  }

  @Test("each kind is rendered wherever some provider carries it; a fault names its provider")
  func kinds() {
    let accounts = SampleAccounts.make()
    for event in LiveActivity.Event.allCases {
      let activity = message(.liveActivity) {
        $0.liveActivity = LiveActivity(event: event, contentState: [], timestamp: 1)
        $0.liveActivity?.attributesType = "Match"
      }
      let (samples, faults) = SampleRequests.make(activity, accounts, startedAt: WallTime(seconds: 1))
      #expect(Set(samples.map(\.provider)).isSuperset(of: [.apns, .fcm]))
      // OneSignal starts only what has a name.
      #expect(faults.map(\.pointer) == (event == .start ? ["/live_activity/activity_id"] : []))
    }
  }
}
