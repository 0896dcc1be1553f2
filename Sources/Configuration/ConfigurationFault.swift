/// One thing that is wrong with the configuration: where, what, and how to mend it.
package struct ConfigurationFault: Error, Hashable, Sendable {
  /// A JSON pointer; empty for the file as a whole.
  package var pointer: String
  /// For syntax errors.
  package var line: Int?
  package var column: Int?
  package var problem: String
  package var fix: String

  /// `problem` and `fix`: a sentence each, without its full stop, which `text` adds. `line` and `column` count from 1.
  package init(pointer: String, line: Int? = nil, column: Int? = nil, problem: String, fix: String) {
    self.pointer = pointer
    self.line = line
    self.column = column
    self.problem = problem
    self.fix = fix
  }

  /// `/listen/port: 70000 is no port. Use 0 … 65535.`
  package var text: String {
    var place = pointer.isEmpty ? "the file" : pointer
    if let line, let column { place = "line \(line), column \(column)" }
    return "\(place): \(problem). \(fix)" + (fix.hasSuffix("?") ? "" : ".")
  }
}

/// Everything that is wrong with a configuration, in the order of its reading; never empty.
package struct ConfigurationFaults: Error, Sendable {
  package var file: String
  package var faults: [ConfigurationFault]
  /// What was read beside them, with defaults in place of what is wrong. Nil: the file is not even JSON5.
  package var configuration: Configuration?
  /// `file`: the path as it was given, for the first line of the report.
  package init(file: String, faults: [ConfigurationFault], configuration: Configuration? = nil) {
    self.file = file
    self.faults = faults
    self.configuration = configuration
  }
}
