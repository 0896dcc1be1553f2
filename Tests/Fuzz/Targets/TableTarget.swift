import Domain
import Intake

@testable import API
@testable import HTTPServer

extension FuzzTarget {
  /// A table of devices: the first line is the query (`map` and `set`), the others are the table.
  static let tables = FuzzTarget("tables") { bytes in
    var input = FuzzInput(bytes)
    let query = String(decoding: input.line(), as: UTF8.self).split(separator: "&").compactMap { part in
      let words = part.split(separator: "=", maxSplits: 1).map(String.init)
      return words.count == 2 && ["map", "set"].contains(words[0]) ? (name: words[0], value: words[1]) : nil
    }
    let body = input.bytes()
    let call = Call(
      request: HTTPServerRequest(
        method: "POST", path: "/v1/devices/bulk",
        query: query.filter { DeviceTable.fault(of: $0.value, as: $0.name, budget) == nil },
        headers: [], body: body, address: NetworkAddress(ipv4: 1)), parameters: [], key: FuzzWorld.key,
      now: FuzzWorld.now)
    var reader = CSVReader(body)
    var (table, steps): (DeviceTable?, Int) = (nil, 0)
    while true {
      steps += 1
      demand(steps <= body.count + 1, "a reader comes to the end")
      do throws(CSVReader.Fault) {
        guard let record = try reader.next(upTo: DeviceTable.maximumColumns) else { return }
        guard let known = table else {
          if record.cells.isEmpty { continue }
          guard let head = try? DeviceTable(head: record.cells, call) else { return }
          table = head
          continue
        }
        read(known.line(record, Lines.Bound(bytes: 1 << 20, setting: "limits.body")))
      } catch {
        guard table != nil, error.record != nil else { return }
      }
    }
  }

  private static var budget: SuggestionBudget { SuggestionBudget() }

  private static func read(_ line: Lines.Line) {
    guard line.fault == nil else { return }
    do throws(Problem) {
      let document = try line.document()
      _ = DeviceReader.isDead(document)
      _ = try? DeviceReader.read(document, id: nil, now: FuzzWorld.now, providers: FuzzWorld.rules, isImported: true)
    } catch {
      // What a row is written as is JSON; it may say a field twice or more than a line may hold.
      demand(error.code.status < 500, "a row is refused as the client's fault")
    }
  }
}
