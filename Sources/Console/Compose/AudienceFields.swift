/// Who gets a message: blocks for those who do not know the language of expressions, and the expression that they write.
struct AudienceFields {
  let form: ComposeForm
  let fields: FormFields
  private var texts: Texts { fields.texts }

  init(_ form: ComposeForm, _ fields: FormFields) { (self.form, self.fields) = (form, fields) }

  func write(_ html: inout HTML) {
    html.element("fieldset", [.class("part")]) { html in
      html.element("legend", texts[.whoGetsIt])
      builder(&html)
      fields.area(
        .init(
          name: "audience", label: texts[.audienceExpression], value: form.audience, hint: texts[.expressionHint],
          attributes: ComposePage.code), rows: 2, &html)
      fields.select(
        .init(name: "devices", label: texts[.devicesOfUser], value: form.reach, style: "field short"),
        [(ComposeForm.allDevices, texts[.allDevices]), ("latest_device_per_user", texts[.latestDevice])], &html)
    }
  }

  /// Properties of a device that have words of their own; the values are the expression's.
  private static let kinds: [(key: String, label: Word)] = [
    ("tag", .ofTag), ("platform", .platform), ("lang", .language), ("tz", .ofZone), ("app_version", .ofVersion),
    ("seen", .lastSeen), ("auth", .ofPermission), ("provider", .provider), ("activity", .ofActivity),
    ("audience", .namedAudience), ("everyone", .everyone),
  ]
  /// Suggested where the values are few.
  private static let values: [(key: String, values: [String])] = [
    ("platform", ["ios", "android", "web", "macos", "*"]), ("lang", ["en", "de", "fr", "es", "*"]),
    ("tz", ["Europe/Berlin", "Europe/London", "America/New_York", "*"]),
    ("auth", ["authorized", "provisional", "ephemeral", "denied", "not_determined", "*"]),
    ("provider", ["apns", "fcm", "onesignal", "webpush"]), ("app_version", []), ("audience", []), ("activity", []),
  ]

  /// Filled and shown by the script; the expression is what is sent.
  private func builder(_ html: inout HTML) {
    html.element(
      "div",
      [
        .class("builder"), .data(.builder), .data(.scripted), .data(.tags, Link("compose", "tags").text),
        .flag(.hidden),
      ]
    ) { html in
      html.element("div", [.data(.editor)]) { html in
        html.element("p", [.flag(.hidden)]) { html in
          html.element("label", [.set(.for, "join")], texts[.devicesThatFulfil])
          html.text(" ")
          join([("&&", .allOfThese), ("||", .oneOfThese)], [.id("join")], &html)
        }
        html.element("ul", [.class("blocks"), .data(.blocks)], "")
        html.element("p", [.class("actions")]) { html in
          button(.add, "block", .addCondition, &html)
          button(.add, "group", .addGroup, &html)
        }
      }
      html.element("p", [.class("hint"), .set(.role, "status"), .data(.byHand, texts[.byHand])], "")
      block(&html)
      group(&html)
      html.element("datalist", [.id("values-tag"), .data(.text, texts[.tagDevices])], "")
      for list in Self.values {
        html.element("datalist", [.id("values-" + list.key)]) { html in
          for value in list.values { html.element("option", [.set(.value, value)], "") }
        }
      }
    }
  }

  private func button(_ data: DataAttribute, _ value: String, _ word: Word, _ html: inout HTML) {
    html.element("button", [.set(.type, "button"), .data(data, value)], texts[word])
    html.text(" ")
  }

  private func join(_ options: [(String, Word)], _ attributes: [Attribute], _ html: inout HTML) {
    html.element("select", attributes + [.data(.join)]) { html in
      for (value, word) in options { html.element("option", [.set(.value, value)], texts[word]) }
    }
  }

  private func choice(_ data: DataAttribute, _ label: Word, _ options: [(String, Word)], _ html: inout HTML) {
    html.element("select", [.data(data), .set(.ariaLabel, texts[label])]) { html in
      for (value, word) in options { html.element("option", [.set(.value, value)], texts[word]) }
    }
  }

  private func comparison(of kind: String, _ options: [(String, Word)], _ html: inout HTML) {
    html.element("select", [.data(.sign), .data(.for, kind), .set(.ariaLabel, texts[.comparison])]) { html in
      for (value, word) in options { html.element("option", [.set(.value, value)], texts[word]) }
    }
  }

  private func remove(_ word: Word, _ html: inout HTML) {
    html.element("button", [.set(.type, "button"), .class("remove"), .data(.remove)]) { html in
      html.element("span", [.set(.ariaHidden, "true")], "✕")
      html.element("span", [.class("hidden")], texts[word])
    }
  }

  private func block(_ html: inout HTML) {
    html.element("template", [.data(.of, "block")]) { html in
      html.element("li") { html in
        html.element("fieldset", [.class("block")]) { html in
          html.element("legend", [.class("hidden"), .data(.text, texts[.conditionNumber])], "")
          choice(.kind, .property, Self.kinds, &html)
          choice(.not, .isOrIsNot, [("", .isSo), ("!", .isNot)], &html)
          comparison(
            of: "app_version",
            [("", .exactly), ("=", .sameVersion), (">=", .atLeast), (">", .above), ("<=", .atMost), ("<", .below)],
            &html)
          comparison(of: "seen", [("<", .lessThan), (">", .moreThan)], &html)
          html.void(
            "input",
            [
              .data(.value), .set(.ariaLabel, texts[.value]), .set(.autocomplete, "off"), .set(.spellcheck, "false"),
              .set(.autocapitalize, "none"), .set(.dir, "auto"),
            ])
          html.element("span", [.data(.for, "seen")], texts[.daysAgo])
          remove(.removeCondition, &html)
        }
      }
    }
  }

  private func group(_ html: inout HTML) {
    html.element("template", [.data(.of, "group")]) { html in
      html.element("li") { html in
        html.element("fieldset", [.class("group")]) { html in
          html.element("legend", [.class("hidden"), .data(.text, texts[.groupNumber])], "")
          html.element("div", [.class("group-head")]) { html in
            choice(.not, .fulfilsOrNot, [("", .fulfils), ("!", .fulfilsNot)], &html)
            join([("||", .oneOfThese), ("&&", .allOfThese)], [.set(.ariaLabel, texts[.allOrOne])], &html)
            remove(.removeGroup, &html)
          }
          html.element("ul", [.class("blocks"), .data(.blocks)], "")
          html.element("p", [.class("actions")]) { html in button(.add, "block", .addToGroup, &html) }
        }
      }
    }
  }
}
