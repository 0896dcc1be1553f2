import Intake

/// A message within another document, as its `message`: what is wrong with it is told by pointers into that.
enum NestedMessage {
  static func read<Value>(_ work: () throws(Problem) -> Value) throws(Problem) -> Value {
    do throws(Problem) {
      return try work()
    } catch {
      throw error.moved { "/message" + $0 }
    }
  }

  static func check<Value>(_ work: () async throws(Problem) -> Value) async throws(Problem) -> Value {
    do throws(Problem) {
      return try await work()
    } catch {
      throw error.moved { "/message" + $0 }
    }
  }
}

extension Problem {
  /// With other pointers: into the document that its own lies in.
  func moved(_ pointer: (String) -> String) -> Problem {
    var problem = self
    for index in problem.violations.indices {
      problem.violations[index].pointer = pointer(problem.violations[index].pointer)
    }
    return problem
  }
}
