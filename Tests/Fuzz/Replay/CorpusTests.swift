import FuzzTargets
import Support
import Testing

/// `make fuzz` looks for inputs; these tests run those that were found, and some like them.
@Suite("Fuzz corpora")
struct CorpusTests {
  @Test("each target has a corpus, and each corpus a target")
  func complete() throws {
    #expect(try Corpus.names() == FuzzTarget.all.map(\.name).sorted())
    for target in FuzzTarget.all { #expect(try !Corpus.files(of: target.name).isEmpty, "\(target.name)") }
  }

  @Test("no input of a corpus traps", arguments: FuzzTarget.all.map(\.name))
  func replay(_ name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    for file in try Corpus.files(of: name) {
      CrashNote.set("\(name)/\(file.name)")
      target.run(file.bytes)
    }
    CrashNote.set(nil)
  }

  @Test("no input that differs a little from one of a corpus traps", arguments: FuzzTarget.all.map(\.name))
  func mutate(_ name: String) throws {
    let target = try #require(FuzzTarget.all.first { $0.name == name })
    let files = try Corpus.files(of: name)
    var random = Seeded()
    for round in 0..<Corpus.rounds {
      let file = random.pick(files)
      CrashNote.set("\(name)/\(file.name), seed \(random.seed), round \(round)")
      target.run(Mutation.of(file.bytes, with: random.pick(files).bytes, &random))
    }
    CrashNote.set(nil)
  }
}
