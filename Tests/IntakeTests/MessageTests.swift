import Domain
import Intake
import Testing

@Suite("A message is read as it was meant")
struct MessageTests {
  @Test("every field that this version carries arrives in the message")
  func wholeMessage() throws {
    let message = try read(
      ##"""
      {"to":{"devices":["d1","d2"]},"kind":"alert",
       "notification":{"title":"T","subtitle":"S","body":"B\n2","image":"https://cdn.example.com/p.jpg",
         "link":"https://example.com/o/1","category":"ORDER","thread_id":"o-1","badge":3,
         "sound":{"name":"siren.caf","critical":true,"volume":0.5},"interruption_level":"time-sensitive",
         "relevance_score":0.8,"title_key":"TK","title_args":["a","b"],"subtitle_key":"SK","body_key":"BK",
         "body_args":["c"],"launch_image":"L","target_content_id":"W","filter_criteria":"F","android_channel":"orders",
         "icon":"ic","color":"#A1b2c3","buttons":[{"id":"yes","text":"Yes","icon":"i","url":"https://example.com/y"}]},
       "data":{"screen":"order","deep":{"id":[1,2.5,null,true]}},"content_available":true,"mutable_content":true,
       "priority":"low","ttl":60,"collapse_key":"order-881","ordered":false,"labels":{"campaign":"x","n":1},
       "providers":["apns","fcm"],"keep_receipts":false,"reach":"all_devices",
       "overrides":{"apns":{"aps":{"x":1},"headers":{"apns-priority":"5"}},
         "fcm":{"android":{"restricted_package_name":"p"},"webpush":{"headers":{"TTL":"5","Urgency":"high"}},
           "apns":{"headers":{"apns-priority":"5"}}},
         "onesignal":{"android_led_color":"FF00FF00"}}}
      """##
    ).message
    #expect(message.to == .devices([DeviceID(rawValue: "d1"), DeviceID(rawValue: "d2")]))
    let notification = try #require(message.notification)
    #expect(notification.body == "B\n2")
    #expect(notification.sound == Sound(name: "siren.caf", critical: true, volume: 0.5))
    #expect(notification.interruptionLevel == .timeSensitive)
    #expect(notification.relevanceScore == 0.8)
    #expect(notification.titleArgs == ["a", "b"])
    #expect(notification.bodyKey == "BK")
    #expect(notification.badge == 3)
    #expect(notification.color == "#A1b2c3")
    #expect(
      notification.buttons == [Button(id: "yes", text: "Yes", icon: "i", url: "https://example.com/y")])
    #expect(message.data.map(\.key) == ["screen", "deep"])
    #expect(message.contentAvailable)
    #expect(message.mutableContent == true)
    #expect(message.priority == .low)
    #expect(message.ttl == 60)
    #expect(message.collapseKey == "order-881")
    #expect(!message.ordered)
    #expect(message.providers == [.apns, .fcm])
    #expect(message.labels.count == 2)
    #expect(message.overrides.apnsHeaders == [JSONMember("apns-priority", .string("5"))])
    #expect(message.overrides.fcmWebpush.map(\.key) == ["headers"])
    #expect(message.overrides.oneSignal.map(\.key) == ["android_led_color"])
  }

  @Test("what is left out has its default")
  func defaults() throws {
    let message = try read(alert(#""notification":{"title":"T"}"#)).message
    #expect(message.kind == .alert)
    #expect(message.ttl == 259_200)
    #expect(message.priority == nil)
    #expect(message.ordered)
    #expect(message.providers == nil)
    #expect(!message.contentAvailable)
    #expect(message.mutableContent == nil)
  }

  @Test("a background push needs nothing but recipients")
  func background() throws {
    let message = try read(alert(#""kind":"background","data":{"sync":"inbox"},"priority":"normal""#)).message
    #expect(message.kind == .background)
    #expect(message.notification == nil)
  }

  @Test("tokens are normalised, and a target named twice gets one push and a warning")
  func targets() throws {
    let id = "1DD608F2-c6a1-11e3-851d-000c2940e62c"
    let reading = try read(
      #"""
      {"to":{"tokens":[{"provider":"apns","token":"ABcd","environment":"sandbox","bundle_id":"com.example.app"},
        {"provider":"apns","token":"abCD","environment":"sandbox","bundle_id":"com.example.app"},
        {"provider":"fcm","token":"dXk:APA91b_-x"},{"provider":"fcm","token":"cT3x9QeSRk2mJb0aYw1ZpL","token_kind":"fid"},
        {"provider":"onesignal","token":"\#(id)"},{"provider":"onesignal","token":"alias:external_id:u-17"}]},
       "notification":{"body":"B"}}
      """#)
    #expect(
      reading.message.to
        == .tokens([
          Address(provider: .apns, token: "abcd", environment: .sandbox, bundleID: "com.example.app"),
          Address(provider: .fcm, token: "dXk:APA91b_-x"),
          Address(provider: .fcm, token: "cT3x9QeSRk2mJb0aYw1ZpL", tokenKind: .fid),
          Address(provider: .oneSignal, token: id.lowercased()),
          Address(provider: .oneSignal, token: "alias:external_id:u-17"),
        ]))
    #expect(reading.warnings.map(\.code) == ["duplicate_targets"])
    #expect(reading.warnings.map(\.pointer) == ["/to/tokens"])
  }

  @Test("two spellings of one letter are two users and two tags")
  func spellings() throws {
    let spelt = #""zo\u00e9","zoe\u0301""#
    let reading = try read(#"{"to":{"users":[\#(spelt),"zo\u00e9"]},"notification":{"body":"B"}}"#)
    guard case .users(let users) = reading.message.to else {
      Issue.record("users became something else")
      return
    }
    #expect(users.map { Array($0.utf8) } == [Array("zo\u{e9}".utf8), Array("zoe\u{301}".utf8)])
    #expect(reading.warnings.map(\.code) == ["duplicate_targets"])
    let edit = try TagReader.edit(from: document(#"{"add":["zo\u00e9"],"remove":["zoe\u0301"]}"#))
    #expect(edit.add.count == 1 && edit.remove.count == 1)
    #expect(try TagReader.userTags(from: document(#"{"tags":[\#(spelt)]}"#)).replace?.count == 2)
  }

  @Test("ten thousand targets are taken")
  func manyTargets() throws {
    let list = (0..<10_000).map { #""d\#($0)""# }.joined(separator: ",")
    let message = try read(#"{"to":{"devices":[\#(list)]},"notification":{"title":"T"}}"#).message
    guard case .devices(let devices) = message.to else {
      Issue.record("devices became something else")
      return
    }
    #expect(devices.count == 10_000)
  }

  @Test("texts by language")
  func localized() throws {
    let texts = #""notification":{"title":"T","localized":{"de":{"title":"Ü"},"pt-BR":{"body":"O"}}}"#
    let message = try read(alert(texts)).message
    #expect(message.notification?.localized.map(\.language) == ["de", "pt-BR"])
  }

  @Test("a stored body reads the same again")
  func repeatable() throws {
    let text = alert(#""notification":{"title":"T"},"data":{"b":1,"a":2}"#)
    #expect(try MessageReader.message(from: document(text)) == read(text).message)
  }
}
