/// Languages that devices speak, and what people write in their place.
package enum KnownLanguages {
  /// ISO 639-1, and codes that systems still use for three of them.
  private static let short = Set(
    """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en \
    eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu iw in \
    ja ji jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na \
    nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so \
    sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
    """.split(separator: " ").map(String.init))

  /// Codes of three letters for languages that have one of two, countries, and names (which are no tags).
  private static let slips = [
    "ger": "de", "deu": "de", "eng": "en", "fre": "fr", "fra": "fr", "spa": "es", "ita": "it", "por": "pt",
    "rus": "ru", "jpn": "ja", "chi": "zh", "zho": "zh", "kor": "ko", "ara": "ar", "dut": "nl", "nld": "nl",
    "pol": "pl", "tur": "tr", "swe": "sv", "dan": "da", "nor": "no", "fin": "fi", "cze": "cs", "ces": "cs",
    "gre": "el", "ell": "el", "hun": "hu", "heb": "he", "hin": "hi", "ukr": "uk", "rum": "ro", "ron": "ro",
    "vie": "vi", "tha": "th", "ind": "id",
    "jp": "ja", "cn": "zh", "cz": "cs", "dk": "da", "gr": "el", "us": "en", "gb": "en", "at": "de", "ua": "uk",
    "vn": "vi", "il": "he", "mx": "es",
    "german": "de", "deutsch": "de", "english": "en", "french": "fr", "francais": "fr", "spanish": "es",
    "espanol": "es", "italian": "it", "italiano": "it", "portuguese": "pt", "russian": "ru", "japanese": "ja",
    "chinese": "zh", "korean": "ko", "arabic": "ar", "dutch": "nl", "polish": "pl", "turkish": "tr", "swedish": "sv",
    "danish": "da", "norwegian": "no", "finnish": "fi", "czech": "cs", "greek": "el", "hungarian": "hu",
    "hebrew": "he", "hindi": "hi", "ukrainian": "uk", "romanian": "ro", "thai": "th",
  ]

  /// ISO 3166-1, and Kosovo, which systems give as `XK`.
  private static let countries = Set(
    """
    ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bl bm bn bo bq br bs bt bv bw by bz ca \
    cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg eh er es et fi fj fk fm fo fr ga \
    gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp \
    ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mf mg mh mk ml mm mn mo mp mq mr ms \
    mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs \
    ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw \
    tz ua ug um us uy uz va vc ve vg vi vn vu wf ws xk ye yt za zm zw
    """.split(separator: " ").map(String.init))

  /// What people write in place of a country's code.
  private static let countrySlips = [
    "uk": "GB", "en": "GB", "el": "GR", "ja": "JP", "da": "DK", "cs": "CZ", "ko": "KR", "zh": "CN",
  ]

  /// What is to be said of a tag that no device's system gives: "`german` is not a known language; did you mean `de`?".
  /// Nil: the tag may well be right. Codes of three letters are very many, so only those with a short form are doubted.
  package static func doubt(of tag: String) -> String? {
    let parts = tag.split(separator: "-", maxSplits: 1)
    guard let first = parts.first?.lowercased() else { return nil }
    guard !short.contains(first), first.utf8.count != 3 || slips[first] != nil else { return countryDoubt(of: tag) }
    let rest = parts.count > 1 ? "-\(parts[1])" : ""
    let hint = slips[first].map { "did you mean `\($0)\(rest)`?" } ?? "use a code of two letters, such as `de`"
    return "`\(tag)` is not a known language; \(hint)"
  }

  /// The tag with a code in place of a language's name: `de-AT` for `Deutsch-AT`. A name that is not known stays.
  static func withCode(_ tag: String) -> String {
    let parts = tag.split(separator: "-", maxSplits: 1)
    guard let first = parts.first, let code = slips[first.lowercased()] else { return tag }
    return code + (parts.count > 1 ? "-\(parts[1])" : "")
  }

  /// The language is known. A country is the first part of two letters behind it; a single letter begins an extension.
  private static func countryDoubt(of tag: String) -> String? {
    var parts = tag.split(separator: "-", omittingEmptySubsequences: false)
    let end = parts.dropFirst().firstIndex { $0.utf8.count < 2 } ?? parts.count
    guard let place = parts[..<end].dropFirst().firstIndex(where: { $0.utf8.count == 2 }) else { return nil }
    let country = parts[place].lowercased()
    guard !countries.contains(country), country.utf8.allSatisfy({ $0 > UInt8(ascii: "9") }) else { return nil }
    guard let meant = countrySlips[country] else {
      return "`\(tag)` does not name a known country; use a code of ISO 3166"
    }
    parts[place] = Substring(parts[place].first?.isLowercase == true ? meant.lowercased() : meant)
    return "`\(tag)` does not name a known country; did you mean `\(parts.joined(separator: "-"))`?"
  }
}

/// Platforms that devices usually tell.
package enum KnownPlatforms {
  private static let usual = [
    "ios", "ipados", "macos", "watchos", "tvos", "visionos", "android", "web", "windows", "linux", "harmonyos",
    "fireos",
  ]
  private static let slips = [
    "iphone": "ios", "ipad": "ipados", "apple": "ios", "mac": "macos", "osx": "macos", "browser": "web",
    "chrome": "web", "firefox": "web", "safari": "web", "webpush": "web", "huawei": "harmonyos", "fcm": "android",
    "apns": "ios", "google": "android",
  ]

  /// "`iphone` is not a usual platform; did you mean `ios`?". Nil: it is one of the usual, or none is near.
  package static func doubt(of platform: String) -> String? {
    let plain = platform.lowercased()
    guard !usual.contains(plain) else { return nil }
    guard let near = slips[plain] ?? Suggestion.nearest(to: plain, among: usual) else { return nil }
    return "`\(platform)` is not a usual platform; did you mean `\(near)`?"
  }
}
