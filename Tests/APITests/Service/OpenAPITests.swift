import API
import Domain
import Intake
import JSON
import Store
import Testing

@Suite("The API's description of itself is true")
struct OpenAPITests {
  private var document: JSONValue { OpenAPI.document }
  private func schema(_ name: String) -> JSONValue? { document["components"]?["schemas"]?[name] }

  @Test("it is OpenAPI 3.1, and reads back as what it was written from")
  func valid() throws {
    #expect(document["openapi"] == .string("3.1.0"))
    #expect(try JSON.parse(OpenAPI.encoded) == document)
  }

  @Test("it lists every route with its methods, parameters and scopes, and no other")
  func routes() {
    let paths = document["paths"]?.object ?? []
    #expect(Set(paths.map(\.key)) == Set(Endpoint.all.map(\.path)))
    #expect(paths.map { $0.value.object?.count ?? 0 }.reduce(0, +) == Endpoint.all.count)
    for endpoint in Endpoint.all {
      let operation = document["paths"]?[endpoint.path]?[endpoint.method.lowercased()]
      let parameters = operation?["parameters"]?.array ?? []
      let names = { (place: String) in
        parameters.filter { $0["in"] == .string(place) }.compactMap { $0["name"]?.string }
      }
      #expect(names("query") == endpoint.query, "\(endpoint.path)")
      #expect(
        names("path").map { "{\($0)}" }
          == endpoint.path.split(separator: "/").map(String.init).filter { $0.hasPrefix("{") })
      switch endpoint.access {
      case .open: #expect(operation?["security"] == .array([]), "\(endpoint.path)")
      case .key(let scopes):
        #expect(operation?["security"] == nil)
        #expect(operation?["x-scopes"]?.array?.compactMap(\.string) == scopes.map(\.rawValue).sorted())
      }
    }
  }

  @Test("each operation is described once, and none is missing")
  func operations() {
    let described = Endpoint.all.compactMap {
      document["paths"]?[$0.path]?[$0.method.lowercased()]?["operationId"]?.string
    }
    #expect(described == Endpoint.all.compactMap(\.operation) && Set(described).count == described.count)
  }

  @Test("what is still to come is answered 501 and says so")
  func later() {
    for endpoint in Endpoint.all {
      let operation = document["paths"]?[endpoint.path]?[endpoint.method.lowercased()]
      guard endpoint.operation == nil else { continue }
      #expect(operation?["responses"]?["501"] != nil, "\(endpoint.path)")
      #expect(operation?["description"]?.string?.contains("later version") == true, "\(endpoint.path)")
    }
  }

  @Test(
    "requests have exactly the fields that Intake takes",
    arguments: [
      ("Message", Schema.message), ("Recipients", .recipients), ("Token", .token), ("Notification", .notification),
      ("Sound", .sound), ("Button", .button), ("LocalizedText", .localized), ("LiveActivity", .liveActivity),
      ("Overrides", .overrides), ("APNsOverrides", .apnsOverrides), ("FCMOverrides", .fcmOverrides),
      ("Durability", .durability), ("ErrorBrake", .errorBrake), ("DeviceRegistration", .device),
      ("ImportedDevice", .importedDevice), ("Channel", .channel),
      ("WebLook", .web),
      ("FileProvider", .fileProvider), ("MDM", .mdm), ("ChannelRequest", .channelRequest),
      ("AudienceToCount", .audience), ("AudienceToKeep", .namedAudience), ("Replay", .replay), ("TagEdit", .tagEdit),
      ("UserTags", .userTags), ("Variant", .variant),
      ("QuietHours", .quietHours), ("Cap", .cap), ("Schedule", .schedule),
      ("DraftToKeep", .draft), ("Test", .test),
      ("TestListToKeep", .testList), ("KeyToMake", .newKey), ("KeyEdit", .keyEdit), ("KeyRotation", .keyRotation),
    ])
  func fields(_ name: String, _ fields: Schema) {
    #expect(Set(schema(name)?["properties"]?.object?.map(\.key) ?? []) == Set(fields.fields))
    #expect(schema(name)?["additionalProperties"] == .bool(false))
    #expect(Schema.all.count == 35)
  }

  @Test("every problem code stands in the problem schema and in the response of its status")
  func problems() {
    let codes = schema("Problem")?["properties"]?["code"]?["enum"]?.array?.compactMap(\.string)
    #expect(codes == ProblemCode.allCases.map(\.rawValue))
    for code in ProblemCode.allCases {
      let response = document["components"]?["responses"]?["Problem\(code.status)"]
      #expect(response?["description"]?.string?.contains("`\(code.rawValue)`") == true)
      #expect(code.type == "/problems/" + code.rawValue.replacing("_", with: "-"))
    }
  }

  @Test("every reference leads somewhere")
  func references() {
    var open: [JSONValue] = [document]
    while let value = open.popLast() {
      switch value {
      case .array(let items): open += items
      case .object(let members):
        open += members.map(\.value)
        guard let reference = value["$ref"]?.string else { continue }
        let end = reference.split(separator: "/").dropFirst().reduce(Optional(document)) { $0?[String($1)] }
        #expect(end != nil, "\(reference)")
      default: continue
      }
    }
  }
}
