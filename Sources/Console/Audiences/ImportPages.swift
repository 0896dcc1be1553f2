import API
import Domain
import HTTPServer
import Store

/// Devices from a file: upload, mapping, a trial, the import, and what became of it. The file waits in Redis between the steps.
struct ImportPages: PageSet {
  let console: Console
  let visitor: Visitor

  var texts: Texts { visitor.texts }
  private var visit: Visit { visitor.visit }
  private var uploads: ConsoleUploads { console.sessions.uploads }

  /// Nil: there is no such page.
  func view(_ path: [String]) async -> HTTPServerResponse? {
    guard visitor.may(.devices) else { return console.refusal(403, .importNotAllowed, visit) }
    switch path.count {
    case 1: return start()
    case 2: return await withUpload(path[1]) { await mapping($0, nil) }
    case 3 where path[2] == "result": return await withUpload(path[1], result)
    case 3 where path[2] == "rejects": return await withUpload(path[1], rejects)
    default: return nil
    }
  }

  /// Nil: there is no such act.
  func act(_ path: [String]) async -> HTTPServerResponse? {
    guard visitor.may(.devices) else { return console.refusal(403, .importNotAllowed, visit) }
    switch path.count {
    case 1: return await upload()
    case 2: return await withUpload(path[1], run)
    default: return nil
    }
  }

  private func withUpload(
    _ name: String, _ page: (ConsoleUpload) async -> HTTPServerResponse
  ) async -> HTTPServerResponse {
    do throws(StoreError) {
      guard let upload = try await uploads.find(name, key: visitor.key.id, app: visitor.key.app) else {
        return start(fault: texts[.importGone], status: 410)
      }
      return await page(upload)
    } catch {
      return unavailable(error)
    }
  }

  private func unavailable(_ error: StoreError) -> HTTPServerResponse {
    console.unavailable(Problem(error), visit)
  }

  private func file(of upload: ConsoleUpload) async -> Result<ImportFile, StoreError> {
    do throws(StoreError) {
      let bytes = try await uploads.bytes(of: upload)
      return .success(ImportFile(bytes ?? []))
    } catch {
      return .failure(error)
    }
  }

  // MARK: Upload

  private func start(fault: String? = nil, status: Int = 200) -> HTTPServerResponse {
    let megabytes = texts.number(ConsoleUploads.longest >> 20)
    return Frame.page(visitor, title: texts[.importDevices], section: .audiences, status: status) { html in
      html.crumbs([(texts[.audiences], Link("audiences"))], texts[.importDevices], texts)
      html.element("h1", texts[.importDevices])
      html.element("p", texts[.importLead])
      if let fault {
        html.element("section", [.class("errors"), .set(.tabIndex, "-1"), .flag(.autofocus)]) { html in
          html.element("p") { $0.element("a", [.href(Link(fragment: "file"))], fault) }
        }
      }
      Frame.form(
        visitor, Link("import"),
        attributes: [
          .set(.enctype, Multipart.type), .data(.upload, texts[.importUploading]),
          .data(.most, String(ConsoleUploads.longest)), .data(.tooLarge, texts(.importTooLarge, megabytes)),
          .data(.busy, texts[.importBusy]), .data(.lost, texts[.importLost]),
        ],
        &html
      ) { html in
        html.element("p", [.class("field")]) { html in
          html.element("label", [.set(.for, "file")], texts[.importFile])
          html.element("span", [.class("hint"), .id("file-hint")], texts(.importFileHint, megabytes))
          html.void(
            "input",
            [
              .id("file"), .set(.name, "file"), .set(.type, "file"),
              .set(.accept, ".csv,.tsv,.txt,.ndjson,.jsonl,.json"),
              .set(.ariaDescribedBy, "file-hint"), .set(.ariaInvalid, fault == nil ? "false" : "true"),
              .flag(.required),
            ])
        }
        html.element("p", [.class("actions")]) { $0.element("button", [.class("primary")], texts[.importUpload]) }
        html.element("p", [.data(.waitState), .set(.role, "status")], "")
      }
      html.element("p", [.class("quiet")]) { html in
        html.text(texts(.importLarger, megabytes) + " ")
        html.element("code", "fanfare devices import FILE")
      }
    }
  }

  private func upload() async -> HTTPServerResponse {
    guard let sent = visit.files.first(where: { $0.field == "file" }), !sent.bytes.isEmpty else {
      return start(fault: texts[.importNoFile], status: 422)
    }
    let bytes = Array(sent.bytes)
    if case .failure(let fault) = Result(catching: { () throws(ImportFile.Fault) in try ImportFile(bytes).preview() }) {
      return start(fault: told(fault), status: 422)
    }
    do throws(StoreError) {
      let kept = try await uploads.keep(bytes, file: sent.name, key: visitor.key.id, app: visitor.key.app)
      guard let kept else {
        return start(fault: texts(.importTooLarge, texts.number(ConsoleUploads.longest >> 20)), status: 413)
      }
      return console.redirect(Link("import", kept.name))
    } catch {
      return unavailable(error)
    }
  }

  private func told(_ fault: ImportFile.Fault) -> String {
    switch fault {
    case .empty: texts[.importEmpty]
    case .tooManyColumns: texts(.importTooManyColumns, texts.number(ImportFile.mostColumns))
    case .longColumn: texts[.importLongColumn]
    case .unreadable(let detail): detail
    }
  }

  // MARK: Mapping

  /// `refused`: a mapping that was tried, and why the API did not take it.
  private func mapping(_ upload: ConsoleUpload, _ refused: (ImportMapping, ToldProblem)?) async -> HTTPServerResponse {
    let file: ImportFile
    switch await self.file(of: upload) {
    case .failure(let error): return unavailable(error)
    case .success(let found): file = found
    }
    let preview: ImportFile.Preview
    do throws(ImportFile.Fault) { preview = try file.preview() } catch {
      return start(fault: error == .empty ? texts[.importGone] : told(error), status: 422)
    }
    // What was chosen for a trial is shown again.
    let tried: ImportReport?
    do throws(StoreError) { tried = refused == nil ? try await report(of: upload) : nil } catch {
      return unavailable(error)
    }
    let kept = tried.map { ImportMapping($0.query, columns: file.isTable ? preview.columns : []) }
    let shown = refused?.0 ?? kept ?? ImportMapping(guessing: preview.columns)
    let status = refused.map { (400..<600).contains($0.1.status) ? $0.1.status : 422 } ?? 200
    return Frame.page(visitor, title: upload.file, section: .audiences, status: status) { html in
      head(upload, nil, &html)
      if let problem = refused?.1 { refusal(problem, &html) }
      Frame.form(visitor, Link("import", upload.name), attributes: [.data(.wait, texts[.importWait])], &html) { html in
        if file.isTable { ImportForm(texts: texts, preview: preview, mapping: shown).columns(&html) }
        ImportForm(texts: texts, preview: preview, mapping: shown).keeping(&html)
        html.element("p", [.class("actions")]) { html in
          html.element("button", [.class("primary"), .set(.name, "act"), .set(.value, "try")], texts[.importTry])
        }
        html.element("p", [.class("quiet")], texts[.importTryLead])
        html.element("p", [.data(.waitState), .set(.role, "status")], "")
      }
      html.section("preview", texts[.importPreview]) { html in
        html.table(labelledBy: "preview-heading", preview.columns.map { ($0.isEmpty ? "–" : $0, false) }) { html in
          for row in preview.rows {
            html.element("tr") { html in
              for at in preview.columns.indices { html.element("td", row.indices.contains(at) ? row[at] : "") }
            }
          }
        }
      }
    }
  }

  private func head(_ upload: ConsoleUpload, _ step: String?, _ html: inout HTML) {
    var way = [(texts[.audiences], Link("audiences")), (texts[.importDevices], Link("import"))]
    let name = upload.file.isEmpty ? texts[.importFile] : upload.file
    if step != nil { way.append((name, Link("import", upload.name))) }
    html.crumbs(way, step ?? name, texts)
    html.element("h1", step ?? name)
    html.element("p", [.class("quiet")], texts(.importSize, name, texts.number((upload.size + 1_023) / 1_024)))
  }

  private func refusal(_ problem: ToldProblem, _ html: inout HTML) {
    html.element(
      "section",
      [.class("errors"), .set(.tabIndex, "-1"), .flag(.autofocus), .set(.ariaLabelledBy, "errors-heading")]
    ) { html in
      html.element("h2", [.id("errors-heading")], texts[.importRefused])
      let details = (problem.document?["violations"]?.array ?? []).prefix(20).compactMap { $0["detail"]?.string }
      html.element("ul") { html in
        for detail in details.isEmpty ? [problem.detail] : details { html.element("li") { $0.told(detail) } }
      }
    }
  }

  // MARK: Trial and import

  private func run(_ upload: ConsoleUpload) async -> HTTPServerResponse {
    let isTrial = visit.field("act") != "import"
    let file: ImportFile
    switch await self.file(of: upload) {
    case .failure(let error): return unavailable(error)
    case .success(let found): file = found
    }
    guard let preview = try? file.preview() else { return start(fault: texts[.importGone], status: 410) }
    let mapping = ImportMapping(visit, columns: file.isTable ? preview.columns : [])
    do throws(StoreError) {
      var query = mapping.query(file.isTable ? preview.columns : [])
      if !isTrial {
        // An import does what its trial has shown.
        guard let note = try await uploads.note(of: upload), let trial = ImportReport(note), trial.isTrial,
          trial.stopped == nil
        else {
          return console.redirect(Link("import", upload.name))
        }
        query = trial.query
      }
      let report: ImportReport
      switch await ImportRun(visitor: visitor, loop: console.loop).run(
        file, ImportReport(isTrial: isTrial, query: query))
      {
      case .failure(let problem): return await self.mapping(upload, (mapping, problem))
      case .success(let made): report = made
      }
      try await uploads.note(report.packed, of: upload, key: visitor.key.id, app: visitor.key.app)
      return console.redirect(Link("import", upload.name, "result"))
    } catch {
      return unavailable(error)
    }
  }

  private func report(of upload: ConsoleUpload) async throws(StoreError) -> ImportReport? {
    try await uploads.note(of: upload).flatMap(ImportReport.init)
  }

  private func result(_ upload: ConsoleUpload) async -> HTTPServerResponse {
    do throws(StoreError) {
      guard let report = try await report(of: upload) else { return console.redirect(Link("import", upload.name)) }
      return result(of: report, upload)
    } catch {
      return unavailable(error)
    }
  }

  private func result(of report: ImportReport, _ upload: ConsoleUpload) -> HTTPServerResponse {
    let title = texts[report.isTrial ? .importTrialTitle : .importDoneTitle]
    let shown = ImportResult(texts: texts, report: report)
    return Frame.page(visitor, title: title, section: .audiences) { html in
      head(upload, title, &html)
      if report.isTrial { html.element("p", [.class("notice"), .data(.state, "waiting")], texts[.importTrialNotice]) }
      if let reason = report.stopped {
        html.element("div", [.class("notice"), .data(.state, "failed"), .set(.role, "alert")]) { html in
          html.element("p", texts(.importStopped, texts.number(report.reached)))
          if !reason.isEmpty { html.element("p", reason) }
        }
      }
      shown.figures(&html)
      if report.isTrial {
        let count = report.lines - report.refused
        html.element("div", [.class("actions")]) { html in
          // A trial that broke off has not judged all that an import would take.
          if count > 0, report.stopped == nil {
            Frame.form(visitor, Link("import", upload.name), attributes: [.data(.wait, texts[.importWait])], &html) {
              html in
              html.element(
                "button", [.class("primary"), .set(.name, "act"), .set(.value, "import")],
                texts(.importRun, texts.number(count)))
              html.element("p", [.data(.waitState), .set(.role, "status")], "")
            }
          }
          html.element("a", [.class("button"), .href(Link("import", upload.name))], texts[.importChange])
        }
      } else {
        html.element("p", [.class("actions")]) { html in
          html.element("a", [.class("button"), .href(Link("import"))], texts[.importAgain])
        }
      }
      if report.refused > 0 { shown.refusals(Link("import", upload.name, "rejects"), &html) }
    }
  }

  private func rejects(_ upload: ConsoleUpload) async -> HTTPServerResponse {
    do throws(StoreError) {
      guard let report = try await report(of: upload) else { return console.redirect(Link("import", upload.name)) }
      return Download.file(report.table, type: "text/csv; charset=utf-8; header=present", filename: "rejects.csv")
    } catch {
      return unavailable(error)
    }
  }
}
