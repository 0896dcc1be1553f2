import FuzzTargets
import Glibc

/// What libFuzzer calls with each input. `FUZZ_TARGET` in the environment names the target.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let bound = FuzzCost.bound(bytes: count)
  // Whoever else uses the machine disturbs one measurement, hardly three.
  for _ in 0..<3 where FuzzCost.measure({ target.run(bytes) }) <= bound { return 0 }
  let spent = FuzzCost.measure { target.run(bytes) }
  fatalError("too slow: \(count) bytes took \(spent / 1_000) µs of processor time; \(bound / 1_000) are allowed")
}

private let target: FuzzTarget = {
  let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
  guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
    fatalError("FUZZ_TARGET must be one of \(FuzzTarget.all.map(\.name).joined(separator: " "))")
  }
  return target
}()
