import Domain
import JSON
import Testing

@Suite("Reading JSON")
struct ParseTests {
  private func parse(_ text: String) throws(JSONFault) -> JSONValue { try JSON.parse(Array(text.utf8)) }

  private func fault(_ bytes: [UInt8], depth: Int = 64) -> JSONFault? {
    do throws(JSONFault) {
      let value = try JSON.parse(bytes, maximumDepth: depth)
      Issue.record("accepted as \(value)")
      return nil
    } catch {
      return error
    }
  }
  private func fault(_ text: String) -> JSONFault? { fault(Array(text.utf8)) }

  @Test("every kind of value arrives, members in their order")
  func kinds() throws {
    let value = try parse(#" {"z":[null,true,false,-7,18446744073709551615,1.5,"é\n\u00e9\ud83d\ude00"],"a":{}} "#)
    let expected = JSONValue.object([
      JSONMember(
        "z",
        .array([
          .null, .bool(true), .bool(false), .integer(-7), .unsigned(.max), .double(1.5), .string("é\né😀"),
        ])),
      JSONMember("a", .object([])),
    ])
    #expect(value == expected)
  }

  @Test("numbers at their limits stay exact")
  func limits() throws {
    #expect(try parse("-9223372036854775808") == .integer(.min))
    #expect(try parse("9223372036854775807") == .integer(.max))
    #expect(try parse("9223372036854775808") == .unsigned(9_223_372_036_854_775_808))
    #expect(try parse("1.7976931348623157e308") == .double(.greatestFiniteMagnitude))
    #expect(try parse("5e-324") == .double(.leastNonzeroMagnitude))
    guard case .double(let zero) = try parse("-0.0") else { return #expect(Bool(false)) }
    #expect(zero == 0 && zero.sign == .minus)
  }

  @Test("NUL may stand in keys and strings as an escape, and cuts nothing off")
  func nul() throws {
    let value = try parse(#"{"a\u0000b":"c\u0000d","a":1}"#)
    #expect(value == .object([JSONMember("a\0b", .string("c\0d")), JSONMember("a", .integer(1))]))
  }

  @Test(
    "what is not JSON is refused with reason and place",
    arguments: [
      ("", "empty", 0), ("  ", "empty", 2), ("{} {}", "follows", 3), ("[1,]", "comma", 2), (#"{"a":1,}"#, "comma", 6),
      ("[1 2]", "comma", 3), ("{a:1}", "double quotes", 1), ("['a']", "double quotes", 1), (#"{"a" 1}"#, "colon", 5),
      ("// x\n1", "comments", 0), ("[1", "ends", 2), (#"["a]"#, "does not end", 1), ("nul", "not JSON", 0),
      ("[truex]", "not JSON", 1), ("NaN", "not JSON", 0), ("01", "zero", 0), ("-", "number", 0), ("1.", "number", 0),
      (".5", "not JSON", 0), ("1e", "number", 0), ("+1", "not JSON", 0), ("1e400", "too large", 0),
      ("-1e400", "too large", 0), ("18446744073709551616", "send it as a string", 0),
      ("{“a”:1}", "not in typographic ones", 1), ("[„a“]", "not in typographic ones", 1),
      ("[«a»]", "not in typographic ones", 1), ("{\"a\":1,,\"b\":2}", "a comma too many", 7),
      ("[1,,2]", "a comma too many", 3),
      ("-9223372036854775809", "send it as a string", 0), (#""\ud800""#, "surrogate", 1),
      (#""\udc00x""#, "surrogate", 1), (#""\ud800\u0041""#, "surrogate", 1), (#""\x""#, "escape", 1),
      (#""\u12g4""#, "hexadecimal", 1), ("\"a\tb\"", "control", 2), ("\"a\0b\"", "control", 2),
      ("\u{FEFF}1", "byte order mark", 0), ("1\0", "follows", 1),
    ])
  func refused(text: String, reason: String, offset: Int) throws {
    let fault = try #require(self.fault(text))
    #expect(fault.detail.contains(reason), "\(fault.detail)")
    #expect(fault.offset == offset, "\(fault.detail)")
  }

  @Test(
    "bytes that are not UTF-8 are refused",
    arguments: [
      [0x80], [0xC0, 0x80], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF],
    ] as [[UInt8]])
  func utf8(bytes: [UInt8]) throws {
    let fault = try #require(self.fault([0x5B, 0x22] + bytes + [0x22, 0x5D]))
    #expect(fault.detail.contains("UTF-8"))
    #expect(fault.offset == 2)
  }

  @Test("the line is named")
  func line() {
    #expect(
      fault("{\n \"a\": 1,\n}")?.detail == "line 2, column 8: remove the comma before the end of an object")
  }

  @Test("a key that stands twice is named, in small and large objects")
  func duplicates() throws {
    #expect(fault(#"{"to":1,"x":{"to":2},"to":3}"#)?.detail.contains(#""to" twice"#) == true)
    let members = (0..<500).map { "\"k\($0)\":0" }
    #expect(try parse("{\(members.joined(separator: ","))}").object?.count == 500)
    #expect(fault("{\((members + [#""k77":1"#]).joined(separator: ","))}")?.detail.contains(#""k77" twice"#) == true)
    #expect(fault(#"{"a\u0062":1,"ab":2}"#)?.detail.contains(#""ab" twice"#) == true)
    #expect(fault(#"{"\n":1,"\u000a":2}"#)?.detail.contains("\n") == false)
  }

  @Test("nesting ends at the limit, and far beyond it nothing breaks")
  func depth() throws {
    func nested(_ depth: Int) -> [UInt8] {
      [UInt8](repeating: UInt8(ascii: "["), count: depth) + [UInt8](repeating: UInt8(ascii: "]"), count: depth)
    }
    #expect(throws: Never.self) { try JSON.parse(nested(64)) }
    for depth in [65, 1023, 1025, 100_000] {
      let fault = try #require(self.fault(nested(depth)))
      #expect(fault.detail.contains("more than 64 deep"))
      #expect(fault.offset == 64)
    }
    #expect(fault([UInt8](repeating: UInt8(ascii: "["), count: 1_000_000))?.detail.contains("64 deep") == true)
    #expect(throws: Never.self) { try JSON.parse(nested(1000), maximumDepth: 1000) }
    #expect(throws: Never.self) { try JSON.parse(Array("1".utf8), maximumDepth: 0) }
  }

  @Test("a large document is read, and a small one after it")
  func large() throws {
    let text = String(repeating: "x", count: 6 << 20)
    #expect(try parse("\"\(text)\"") == .string(text))
    #expect(try parse("[1]") == .array([.integer(1)]))
    #expect(try parse("[2]") == .array([.integer(2)]))
  }

  @Test("an object with too many members is refused before its values are made, and named")
  func members() throws {
    func object(_ count: Int) -> String { "{" + (0..<count).map { "\"k\($0)\":0" }.joined(separator: ",") + "}" }
    let limits = JSONLimits(members: 100)
    #expect(try JSON.parse(Array(object(100).utf8), limits).object?.count == 100)
    let text = #"{"a":[1,{"b/c":\#(object(101))}],"z":{}}"#
    let crowded = #expect(throws: JSONFault.self) { try JSON.parse(Array(text.utf8), limits) }
    #expect(crowded?.crowded == "/a/1/b~1c")
    #expect(crowded?.detail.contains("more than 100 members") == true)
    #expect(throws: JSONFault.self) { try JSON.parse(Array(object(10_001).utf8)) }
  }

  @Test("a document with too many values is refused before they are made")
  func values() throws {
    let list = Array(("[" + String(repeating: "0,", count: 98) + "0]").utf8)
    #expect(try JSON.parse(list, JSONLimits(values: 100)).array?.count == 99)
    #expect(throws: JSONFault.self) { try JSON.parse(list, JSONLimits(values: 99)) }
  }
}
