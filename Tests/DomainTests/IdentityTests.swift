import Domain
import Testing

@Suite("Ids")
struct IdentityTests {
  @Test("a message id comes back from its text, with time and home partition", arguments: [0, 1, 15, 65_535])
  func messageID(partition: Int) throws {
    let accepted = WallTime(milliseconds: 1_795_225_600_123)
    let id = MessageID(acceptedAt: accepted, partition: partition, random: 0xfedc_ba98_7654_3210)
    let read = try #require(MessageID(id.description))
    #expect(read == id)
    #expect(read.acceptedAt == accepted)
    #expect(read.homePartition == partition)
  }

  @Test("an origin names its port unless it is that of https, and an IPv6 address stands in brackets")
  func authority() {
    #expect(Origin(host: "api.example.com", port: 443).authority == "api.example.com")
    #expect(Origin(host: "localhost", port: 8443).authority == "localhost:8443")
    #expect(Origin(host: "::1", port: 8443).authority == "[::1]:8443")
    #expect(Origin(host: "::1", port: 443).authority == "[::1]")
  }

  @Test("texts of message ids sort as their times do")
  func order() {
    let early = MessageID(acceptedAt: WallTime(milliseconds: 1_000), partition: 900, random: .max)
    let late = MessageID(acceptedAt: WallTime(milliseconds: 1_001), partition: 0, random: 0)
    #expect(early < late)
    #expect(early.description < late.description)
  }

  @Test("a time that an id cannot say counts as the nearest that it can", arguments: [Int64.min, -1, 1 << 48, .max])
  func anyTime(_ milliseconds: Int64) throws {
    let id = MessageID(acceptedAt: WallTime(milliseconds: milliseconds), partition: 7, random: 3)
    #expect(id.acceptedAt.milliseconds == (milliseconds < 0 ? 0 : 1 << 48 - 1))
    #expect(try #require(MessageID(id.description)) == id && id.homePartition == 7)
  }

  @Test(
    "what is no message id is refused",
    arguments: [
      "", "msg_", "msg_0000000000000000000000000", "msg_000000000000000000000000000", "msg_8zzzzzzzzzzzzzzzzzzzzzzzzz",
      "msg_0000000000000000000000000u", "MSG_00000000000000000000000000", "00000000000000000000000000",
    ])
  func noMessageID(text: String) { #expect(MessageID(text) == nil) }

  @Test("a UUID comes back from its text, whatever the case of the letters")
  func uuid() throws {
    let text = "5d1c6a1e-3c1b-4d0e-9a5e-0d7c2f4b9a10"
    let uuid = try #require(UUIDBytes(text))
    #expect(uuid.description == text)
    #expect(UUIDBytes(text.uppercased()) == uuid)
  }

  @Test(
    "what is no UUID is refused",
    arguments: [
      "", "5d1c6a1e3c1b4d0e9a5e0d7c2f4b9a10", "5d1c6a1e-3c1b-4d0e-9a5e-0d7c2f4b9a1",
      "5d1c6a1e-3c1b-4d0e-9a5e-0d7c2f4b9a1g",
      "5d1c6a1e-3c1b-4d0e-9a5e_0d7c2f4b9a10", "5d1c6a1e-3c1b-4d0e-9a5e-0d7c2f4b9a10 ",
    ])
  func noUUID(text: String) { #expect(UUIDBytes(text) == nil) }
}
