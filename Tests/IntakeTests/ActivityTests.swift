import Domain
import Intake
import Testing

@Suite("A Live Activity is aimed at by its name")
struct ActivityTests {
  private static func update(_ to: String, _ event: String = "update") -> String {
    let more = event == "start" ? #","attributes_type":"A","attributes":{}"# : ""
    return
      #"{"to":\#(to),"kind":"live_activity","notification":{"title":"T","body":"B"},"live_activity":{"event":"\#(event)","content_state":{},"timestamp":1\#(more)}}"#
  }

  @Test(
    "the devices that show it, whatever it is called",
    arguments: [
      ("match-7", "activity:match-7"), ("Match 7", #"activity:"Match 7""#), ("*", #"activity:"*""#),
      ("a:b", "activity:a:b"),
      ("everyone", "activity:everyone"), ("é", "activity:é"),
    ])
  func named(_ name: String, _ expression: String) throws {
    #expect(try read(Self.update(#"{"activity":"\#(name)"}"#)).message.to == .audience(expression))
  }

  @Test(
    "only updates and ends go there",
    arguments: [
      (Self.update(#"{"activity":"m"}"#, "start"), ["/to/activity not_allowed"]),
      (#"{"to":{"activity":"m"},"notification":{"title":"T"}}"#, ["/to/activity not_allowed"]),
      (Self.update(#"{"activity":""}"#), ["/to/activity empty"]),
      (Self.update(#"{"activity":["m"]}"#), ["/to/activity wrong_type"]),
      (Self.update(#"{"activity":"m","users":["u"]}"#), ["/to not_allowed"]),
    ])
  func refused(_ document: String, _ faults: [String]) throws {
    do {
      _ = try read(document)
      Issue.record("taken: \(document)")
    } catch let refusal as Refusal {
      #expect(refusal.violations.map { "\($0.pointer) \($0.code)" } == faults)
    }
  }
}
