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

  /// Codes of three letters for languages that have one of two, countries, and names.
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

  /// What is to be said of a tag that no device's system gives: "`german` is no known language; did you mean `de`?". Nil:
  /// the tag may well be right. Codes of three letters are very many, so only those with a short form are doubted.
  package static func doubt(of tag: String) -> String? {
    let parts = tag.split(separator: "-", maxSplits: 1)
    guard let first = parts.first?.lowercased() else { return nil }
    guard !short.contains(first), first.utf8.count != 3 || slips[first] != nil else { return nil }
    let rest = parts.count > 1 ? "-\(parts[1])" : ""
    let hint = slips[first].map { "did you mean `\($0)\(rest)`?" } ?? "use a code of two letters, such as `de`"
    return "`\(tag)` is no known language; \(hint)"
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
