import Intake

/// A message within another document, as its `message`: what is wrong with it is told by pointers into that.
enum NestedMessage {
  static func read<Value>(_ work: () throws(Problem) -> Value) throws(Problem) -> Value {
    do throws(Problem) {
      return try work()
    } catch {
      throw error.inMessage
    }
  }

  static func check<Value>(_ work: () async throws(Problem) -> Value) async throws(Problem) -> Value {
    do throws(Problem) {
      return try await work()
    } catch {
      throw error.inMessage
    }
  }
}

extension Problem {
  fileprivate var inMessage: Problem {
    var problem = self
    for index in problem.violations.indices {
      problem.violations[index].pointer = "/message" + problem.violations[index].pointer
    }
    return problem
  }
}
