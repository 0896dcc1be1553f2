import Domain
import Loop
import Support
import Testing

@Suite("Work for all who ask while it is under way")
struct SharedWorkTests {
  @Test("it is done once for all who ask meanwhile, and again for whoever asks behind it")
  func once() async throws {
    let (answers, times) = try await withLoop { loop in
      let work = SharedWork<Int>()
      let tally = Tally()
      func ask() async -> Int {
        await work.value {
          tally.times += 1
          let answer = tally.times
          await loop.sleep(milliseconds: 0)
          return answer
        }
      }
      await loop.abreast(5, width: 5) { _ in tally.answers.append(await ask()) }
      tally.answers.append(await ask())
      return (tally.answers, tally.times)
    }
    #expect(answers == [1, 1, 1, 1, 1, 2] && times == 2)
  }
}

private final class Tally {
  var times = 0
  var answers: [Int] = []
}
