import API
import Domain
import HTTPServer
import Store

/// Pages that say what did not work, and what to do.
extension Console {
  func redirect(_ link: Link, headers: [Header] = []) -> HTTPServerResponse {
    HTTPServerResponse(
      status: 303, headers: [Header("location", link.text), Header("cache-control", "no-store")] + headers)
  }

  func refusal(_ status: Int, _ word: Word, _ visit: Visit) -> HTTPServerResponse {
    Frame.plain(visit, title: visit.texts[.errorTitle], status: status) { html in
      html.element("h1", visit.texts[.errorTitle])
      html.element("p", visit.texts[word])
      html.element("p") { $0.element("a", [.class("button"), .href(Link())], visit.texts[.back]) }
    }
  }

  /// For somebody who is signed in.
  func refusal(_ status: Int, _ word: Word, _ visitor: Visitor, _ value: String = "") -> HTTPServerResponse {
    let texts = visitor.texts
    let title = texts[status == 403 ? .notAllowed : status == 200 ? .acceptedAt : .errorTitle]
    return Frame.page(visitor, title: title, section: nil, status: status) { html in
      html.element("h1", title)
      html.element("p", texts(word, value))
      html.element("p") { $0.element("a", [.class("button"), .href(Link())], texts[.back]) }
    }
  }

  func unavailable(_ problem: Problem, _ visit: Visit) -> HTTPServerResponse {
    let page = Frame.plain(visit, title: visit.texts[.unavailable], status: 503) { html in
      html.element("h1", visit.texts[.unavailable])
      html.element("p", problem.detail)
      html.element("p", visit.texts[.unavailableFix])
      html.element("p") { $0.element("a", [.class("button"), .href(Link())], visit.texts[.back]) }
    }
    return page.adding(problem.again)
  }

  func unavailable(_ error: StoreError, _ visit: Visit) -> HTTPServerResponse { unavailable(Problem(error), visit) }

  /// What the API refuses, in its words: they name the fix.
  func refusal(_ problem: ToldProblem, _ visitor: Visitor, section: Word?) -> HTTPServerResponse {
    let texts = visitor.texts
    let title = problem.status == 403 ? texts[.notAllowed] : texts[.errorTitle]
    let page = Frame.page(visitor, title: title, section: section, status: problem.status) { html in
      html.element("h1", title)
      html.element("section", [.class("errors")]) { html in
        html.element("p") { $0.told(problem.detail) }
        if !problem.code.isEmpty { html.element("p", [.class("quiet")]) { $0.element("code", problem.code) } }
      }
      html.element("p") { $0.element("a", [.class("button"), .href(Link())], texts[.back]) }
    }
    return page.adding(problem.again)
  }

  /// A file of the API, as `Visitor.download` makes it, or the page that says why there is none.
  func download(
    _ path: [String], query: [(name: String, value: String)] = [], filename: String, _ visitor: Visitor, section: Word?
  ) async -> HTTPServerResponse {
    switch await visitor.download(path, query: query, filename: filename) {
    case .success(let response): response
    case .failure(let problem): refusal(problem, visitor, section: section)
    }
  }

  func enterPage(_ invitation: String, _ visit: Visit) -> HTTPServerResponse {
    let texts = visit.texts
    return Frame.plain(visit, title: texts[.signIn], status: 200) { html in
      html.element("h1", texts[.signIn])
      html.element("p", texts[.linkLead])
      html.element("form", [.set(.method, "post"), .action(Link("enter", invitation))]) { html in
        html.element("p", [.class("actions")]) { $0.element("button", [.class("primary")], texts[.signInButton]) }
      }
    }
  }

  func signInPage(_ visit: Visit, status: Int = 200, refused: Problem? = nil, isUsed: Bool = false)
    -> HTTPServerResponse
  {
    let (texts, written) = (visit.texts, visit.written)
    let response = Frame.plain(visit, title: texts[.signIn], status: status) { html in
      html.element("h1", texts[.signIn])
      guard visit.mayCarryKeys else {
        html.element("section", [.class("errors")]) { html in
          html.element("p", texts[.signInPlain])
          html.element("p", texts[.signInPlainFix])
        }
        return
      }
      if isUsed { html.element("p", [.class("notice"), .data(.state, "failed")], texts[.linkUsed]) }
      if let refused {
        html.element("section", [.class("errors"), .set(.role, "alert")]) { html in
          html.element("h2", texts[.signInRefused])
          html.element("p", refused.detail)
        }
      }
      html.element("p", texts[written.isEmpty ? .signInLead : .signInAgain])
      html.element("form", [.set(.method, "post"), .action(Link("sign-in"))]) { html in
        let wanted = visit.target?.text ?? (visit.request.method == "GET" ? visit.address : "")
        html.void("input", [.set(.type, "hidden"), .set(.name, "target"), .set(.value, wanted)])
        for (name, value) in written + (written.isEmpty ? [] : [(Visit.resume, "1")]) {
          html.void("input", [.set(.type, "hidden"), .set(.name, name), .set(.value, value)])
        }
        html.element("p", [.class("field")]) { html in
          html.element("label", [.set(.for, "key")], texts[.apiKey])
          html.element("span", [.class("hint"), .id("key-hint")], texts[.apiKeyHint])
          html.void(
            "input",
            [
              .id("key"), .set(.name, "key"), .set(.type, "password"), .set(.autocomplete, "current-password"),
              .set(.maxLength, "256"), .set(.ariaDescribedBy, "key-hint"), .flag(.required), .flag(.autofocus),
            ])
        }
        html.element("p", [.class("actions")]) { $0.element("button", [.class("primary")], texts[.signInButton]) }
      }
    }
    return response.adding(refused?.again ?? [])
  }
}

extension Problem {
  /// When the same may be asked again; empty: it says nothing of it.
  var again: [Header] { retryAfter.map { [Header("retry-after", String($0))] } ?? [] }
}

extension HTTPServerResponse {
  /// With headers more.
  func adding(_ more: [Header]) -> Self {
    var response = self
    response.headers += more
    return response
  }
}
