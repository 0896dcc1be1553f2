// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Modules that own no C resource have no reason for an unsafe construct: there the compiler refuses one.
let pure: [SwiftSetting] = strict + [.strictMemorySafety()]

/// The modules through whose hands each notification goes leave out Swift's checks for exclusive access in release builds: 4 % of
/// the samples of a campaign's profile (Benchmarks/RESULTS.md). All tests of modules run with them, and `make chaos-checked`.
let hot: [SwiftSetting] =
  Context.environment["FANFARE_CHECKED"] == nil
  ? strict + [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))] : strict

/// Debug builds of the modules are optimized too: tests need a quarter of the processor time then. Assertions and checks of
/// overflow stay. To step through a module in a debugger, leave this out.
let quick: [SwiftSetting] = [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]

/// In place of the C library's malloc, which took a tenth of each notification (docs/decisions/0036-jemalloc.md).
let jemalloc: [LinkerSetting] = [.linkedLibrary("jemalloc")]

func module(
  _ name: String, path: String? = nil, _ dependencies: [Target.Dependency], _ settings: [SwiftSetting] = strict,
  resources: [Resource] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: path ?? "Sources/\(name)",
    // A provider's folder carries its own page.
    exclude: path == nil ? [] : ["README.md"], resources: resources,
    swiftSettings: settings + quick)
}

/// A Debian library behind one C target: its header, and a shim where Swift cannot call it directly.
func library(_ name: String, _ links: String...) -> Target {
  .target(name: name, path: "Sources/\(name)", linkerSettings: links.map { .linkedLibrary($0) })
}

func tests(
  _ name: String, path: String? = nil, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, path: path ?? "Tests/\(name)", exclude: exclude,
    swiftSettings: strict)
}

/// The fuzzer brings a main of its own: what is built with it is known only to `make fuzz` (Config/fuzz).
let fuzzer: [Target] =
  Context.environment["FANFARE_FUZZ"] == nil
  ? []
  : [
    .executableTarget(
      name: "fanfare-fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/Fuzzer",
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])])
  ]

let package = Package(
  name: "fanfare",
  products: [
    .executable(name: "fanfare", targets: ["fanfare"]),
    // Benchmarks, faults and the demo: nothing that is installed.
    .executable(name: "fanfare-lab", targets: ["Laboratory"]),
    // For a test: a worker whose machine was suspended.
    .library(name: "SuspendedClock", type: .dynamic, targets: ["SuspendedClock"]),
    // For tests: processes whose clock runs faster.
    .library(name: "FastWait", type: .dynamic, targets: ["FastWait"]),
  ],
  targets: [
    // C libraries, each with a single Swift importer.
    library("CEpoll"),
    library("COpenSSL", "ssl", "crypto"),
    library("CNGHTTP2", "nghttp2"),
    library("CCurl", "curl"),
    library("CHiredis", "hiredis"),
    library("CMicroHTTPD", "microhttpd", "gnutls"),
    library("CSimdJSON", "simdjson"),
    // Starts child processes; asks for the width of a terminal; pins and limits processes.
    library("CProcess"),
    library("CTerminal"),
    library("CLaboratory"),

    // Row 1
    module("Domain", [], pure),
    // Row 2
    module("Loop", ["Domain", "CEpoll"], hot),
    module("JSON", ["Domain", "CSimdJSON"]),
    module("Telemetry", ["Domain"]),
    module("Audience", ["Domain"], pure),
    // Row 3
    module("TLS", ["Domain", "COpenSSL"]),
    module("CommandFrame", ["Domain", "JSON", "CTerminal"]),
    // Row 4
    module("HTTP2", ["Domain", "Loop", "TLS", "CNGHTTP2"], hot),
    module("HTTPClient", ["Domain", "Loop", "CCurl"]),
    module("HTTPServer", ["Domain", "Loop", "CMicroHTTPD"]),
    module("RedisClient", ["Domain", "Loop", "TLS", "CHiredis"], hot),
    // Row 5
    module("Intake", ["Domain", "JSON", "Audience"], pure),
    module(
      "Store", ["Domain", "Audience", "Loop", "TLS", "RedisClient"], hot,
      // The scripts that run inside Redis.
      resources: [.embedInCode("Lua")]),
    module("APNs", path: "Providers/APNs", ["Domain", "JSON", "TLS"], pure),
    module("FCM", path: "Providers/FCM", ["Domain", "JSON", "TLS"], pure),
    module("OneSignal", path: "Providers/OneSignal", ["Domain", "JSON"], pure),
    module("WebPush", path: "Providers/WebPush", ["Domain", "JSON", "TLS"], pure),
    module("Configuration", ["Domain"]),
    module("Processes", ["CommandFrame", "CProcess"]),
    module("GatewayClient", ["Domain", "Loop", "JSON", "HTTPClient"]),
    // Row 6
    module(
      "Delivery", ["Domain", "Loop", "Telemetry", "Audience", "JSON", "TLS", "HTTP2", "HTTPClient", "Store"], hot),
    module(
      "API", ["Domain", "Loop", "Telemetry", "Audience", "JSON", "TLS", "HTTP2", "HTTPServer", "Intake", "Store"]),
    module("Sandbox", ["Domain", "Loop", "JSON", "TLS", "HTTP2", "HTTPServer"]),
    // Row 7
    module(
      "Console", ["Domain", "Loop", "JSON", "TLS", "HTTPServer", "Store", "API"],
      resources: [.embedInCode("Assets")]),
    // Row 8
    module(
      "Gateway",
      [
        "Domain", "Loop", "JSON", "Telemetry", "TLS", "HTTP2", "HTTPServer", "RedisClient", "Intake", "Store", "APNs",
        "FCM",
        "OneSignal", "WebPush", "Configuration", "Processes", "Delivery", "API", "Console",
      ]),
    // Row 9
    .executableTarget(
      name: "fanfare",
      dependencies: [
        "Domain", "Loop", "Audience", "JSON", "TLS", "HTTP2", "HTTPClient", "Intake", "Store", "APNs", "Configuration",
        "Delivery", "API", "Sandbox", "CommandFrame", "Processes", "GatewayClient", "Gateway",
      ],
      path: "Sources/fanfare", swiftSettings: strict, linkerSettings: jemalloc),
    .executableTarget(
      name: "Laboratory",
      dependencies: [
        "Domain", "Loop", "Audience", "JSON", "TLS", "HTTP2", "HTTPClient", "HTTPServer", "RedisClient", "Store",
        "Configuration", "Sandbox", "CommandFrame", "Processes", "GatewayClient", "CLaboratory",
      ],
      path: "Sources/Laboratory", swiftSettings: strict, linkerSettings: jemalloc),

    // Tests: one folder per module, the provider conformance suite, and journeys over the real parts.
    .target(
      name: "Support",
      dependencies: [
        "Domain", "Loop", "JSON", "TLS", "HTTPClient", "RedisClient", "APNs", "FCM", "OneSignal", "WebPush",
        "CSpawn",
      ],
      path: "Tests/Support", swiftSettings: strict),
    // What strangers' bytes reach, one function each: FuzzTests runs them on the corpora, `make fuzz` on what libFuzzer makes.
    .target(
      name: "FuzzTargets",
      dependencies: [
        "Domain", "Loop", "JSON", "Audience", "TLS", "HTTP2", "HTTPServer", "RedisClient", "Intake", "Store", "APNs",
        "FCM", "OneSignal", "WebPush", "API",
      ],
      path: "Tests/Fuzz/Targets", swiftSettings: strict + quick),
    .target(name: "SuspendedClock", path: "Tests/SuspendedClock"),
    .target(name: "FastWait", path: "Tests/FastWait"),
    .target(name: "CSpawn", path: "Tests/CSpawn"),
    tests("DomainTests", ["Domain", "Support"]),
    tests("LoopTests", ["Loop", "Domain", "Support"]),
    tests("JSONTests", ["JSON", "Domain", "Support"]),
    tests("TelemetryTests", ["Telemetry", "Domain", "Support"]),
    tests("AudienceTests", ["Audience", "JSON", "Domain", "Support"]),
    tests("TLSTests", ["TLS", "Loop", "Domain", "Support"]),
    tests("HTTP2Tests", ["HTTP2", "TLS", "Loop", "Domain", "Support"]),
    tests("HTTPClientTests", ["HTTPClient", "HTTPServer", "TLS", "Loop", "Domain", "Support"]),
    tests("HTTPServerTests", ["HTTPServer", "HTTPClient", "TLS", "Loop", "Domain", "Support"]),
    tests("RedisClientTests", ["RedisClient", "TLS", "Loop", "Domain", "Support"]),
    tests("IntakeTests", ["Intake", "JSON", "Domain", "Support"]),
    tests("StoreTests", ["Store", "Audience", "RedisClient", "Loop", "JSON", "TLS", "Domain", "Support"]),
    tests(
      "DeliveryTests",
      [
        "Delivery", "Audience", "APNs", "FCM", "OneSignal", "Store", "HTTP2", "HTTPClient", "HTTPServer", "RedisClient",
        "TLS",
        "Telemetry", "JSON", "Loop", "Domain", "Support",
      ]),
    tests(
      "APITests",
      [
        "API", "Store", "RedisClient", "Intake", "HTTP2", "HTTPServer", "Telemetry", "JSON", "TLS", "Loop", "Domain",
        "Support",
      ]),
    tests(
      "SandboxTests",
      ["Sandbox", "WebPush", "HTTP2", "HTTPServer", "HTTPClient", "JSON", "TLS", "Loop", "Domain", "Support"],
      exclude: ["clients"]),
    tests("ConfigurationTests", ["Configuration", "APNs", "FCM", "OneSignal", "WebPush", "Domain", "Support"]),
    tests(
      "FanfareTests",
      [
        "fanfare", "API", "CommandFrame", "Configuration", "Gateway", "GatewayClient", "Intake", "Store", "TLS",
        "Domain", "JSON", "Support",
      ]),
    tests("GatewayTests", ["Gateway", "Configuration", "TLS", "Domain", "Support"]),
    tests("FuzzTests", path: "Tests/Fuzz/Replay", ["FuzzTargets", "Support"]),
    tests("LaboratoryTests", ["Laboratory", "CommandFrame", "Domain", "Support"]),
    tests(
      "Conformance",
      ["APNs", "FCM", "OneSignal", "WebPush", "Sandbox", "Delivery", "Intake", "JSON", "TLS", "Domain", "Support"]),
    tests("ConsoleTests", ["Console", "HTTPServer", "Store", "JSON", "Domain", "Support"]),
    tests(
      "Journey", ["fanfare", "Laboratory", "JSON", "TLS", "HTTPClient", "HTTPServer", "Loop", "Domain", "Support"]),
  ] + fuzzer,
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)
