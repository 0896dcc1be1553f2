import Foundation
import Support

/// The shell blocks of a page, in order, and what each is to answer: what a reader would type into one terminal.
///
/// A block begins with ` ```sh `. `<!-- exits 5 -->` in the line before it says how it ends; without, with 0. A ` ```text ` block
/// behind it is all that it writes: `…` stands for any text within a line, a line of `…` for any lines, and blanks count as one or, in empty lines, as none.
struct PageScript {
  struct Step {
    /// Of the page, from 1.
    var line: Int
    var script: String
    var exit: Int32
    /// Nil: whatever it writes is right.
    var answer: [String]?
  }

  private(set) var steps: [Step] = []

  init(_ page: String) {
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var place = 0
    /// The lines of the block that begins at `place`; `place` is at its end afterwards.
    func block() -> [String] {
      let start = place + 1
      place = lines[start...].firstIndex(of: "```") ?? lines.count
      return Array(lines[start..<place])
    }
    while place < lines.count {
      if lines[place] == "```sh" {
        let exit = place > 0 ? lines[place - 1].wholeMatch(of: /<!-- exits (\d+) -->/).flatMap { Int32($0.1) } : nil
        let line = place + 1
        steps.append(Step(line: line, script: block().joined(separator: "\n") + "\n", exit: exit ?? 0))
      } else if lines[place] == "```text", !steps.isEmpty {
        steps[steps.count - 1].answer = block()
      }
      place += 1
    }
  }

  /// Runs all steps in one shell that begins with `start`, in a folder of its own that is its home as well. What was otherwise
  /// than the page says; the first step that ends with another code is the last one.
  func run(after start: String = "") async throws -> [String] {
    let directory = try TemporaryDirectory()
    let work = directory.file("work")
    try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
    func file(_ step: Int, _ ending: String) -> URL { directory.file("\(1_000 + step).\(ending)") }
    for (number, step) in steps.enumerated() {
      try step.script.write(to: file(number, "sh"), atomically: true, encoding: .utf8)
      try "\(step.exit)\n".write(to: file(number, "exit"), atomically: true, encoding: .utf8)
    }
    try start.write(to: directory.file("start"), atomically: true, encoding: .utf8)
    let shell = try ChildProcess(
      URL(filePath: "/usr/bin/timeout"), ["\(Self.patience * Sanitizer.slowness)", "bash", "-c", Self.driver],
      environment: ["HOME": work.path, "STEPS": directory.url.path], directory: work)
    _ = await shell.waitForExit()

    var faults: [String] = []
    for (number, step) in steps.enumerated() {
      let output = (try? String(contentsOf: file(number, "out"), encoding: .utf8)) ?? ""
      guard let code = try? String(contentsOf: file(number, "code"), encoding: .utf8) else {
        return faults + ["line \(step.line): not ended:\n\(output)\(shell.text)"]
      }
      if let answer = step.answer, !Self.isLike(output, answer) {
        faults.append("line \(step.line): another answer:\n\(output)")
      }
      guard code == "\(step.exit)\n" else { return faults + ["line \(step.line): ends with \(code)\(output)"] }
    }
    return faults
  }

  /// Seconds for all steps together.
  private static let patience = 240

  /// The code of a step is that of its command that failed; of several, all of theirs.
  private static let driver = """
    unset XDG_CONFIG_HOME XDG_STATE_HOME VISUAL EDITOR FANFARE_PROFILE
    . "$STEPS/start"
    set -o pipefail
    trap 'CODE=$?; [ "${BASH_SOURCE[0]}" != "$STEP" ] || FAILED="$FAILED $CODE"' ERR
    trap 'jobs -p | xargs -r kill' EXIT
    for STEP in "$STEPS"/*.sh; do
      FAILED=
      . "$STEP" > "${STEP%.sh}.out" 2>&1 < /dev/null
      echo ${FAILED:-0} > "${STEP%.sh}.code"
      cmp -s "${STEP%.sh}.code" "${STEP%.sh}.exit" || exit 1
    done
    """

  private static func isLike(_ output: String, _ answer: [String]) -> Bool {
    let pattern = answer.map(even).filter { !$0.isEmpty }.map { line in
      if line == "…" { return #"(?:.*\n)*"# }
      return line.split(separator: "…", omittingEmptySubsequences: false)
        .map { NSRegularExpression.escapedPattern(for: String($0)) }.joined(separator: ".*") + #"\n"#
    }
    let text = output.split(whereSeparator: \.isNewline).map { even(String($0)) + "\n" }.joined()
    return text.range(of: #"\A"# + pattern.joined() + #"\z"#, options: .regularExpression) != nil
  }

  /// Columns are parted by tabs where no terminal is.
  private static func even(_ line: String) -> String {
    line.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
  }
}
