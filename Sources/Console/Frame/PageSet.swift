/// Pages that belong together, for somebody who is signed in.
protocol PageSet {
  var console: Console { get }
  var visitor: Visitor { get }
}

extension PageSet {
  var texts: Texts { visitor.texts }
  var visit: Visit { visitor.visit }
}
