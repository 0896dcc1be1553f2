extension ZoneName {
  /// What people write who mean one of the zones: cities in their own or another language, large cities that have no zone of
  /// their own, abbreviations of clocks. In lower case, with `_` for a space.
  static let aliases: [String: String] = {
    var aliases: [String: String] = [:]
    for line in aliasList.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      for word in words.dropFirst() { aliases[word] = words[0] }
    }
    return aliases
  }()

  /// The zone, and then what is written in its place.
  private static let aliasList = """
    Europe/Amsterdam rotterdam den_haag
    Europe/Athens athen athina athènes atenas atene
    Europe/Belgrade belgrad beograd belgrado
    Europe/Berlin munich münchen muenchen hamburg frankfurt köln koeln cologne stuttgart cest mez mesz
    Europe/Brussels brüssel bruessel bruxelles brussel bruselas antwerp antwerpen
    Europe/Bucharest bukarest bucurești bucuresti
    Europe/Copenhagen kopenhagen københavn kobenhavn
    Europe/Helsinki helsingfors
    Europe/Istanbul ankara
    Europe/Kyiv kiew kyjiw kijew
    Europe/Lisbon lissabon lisboa lisbonne porto
    Europe/London londres londra bst
    Europe/Luxembourg luxemburg
    Europe/Madrid barcelona valencia
    Europe/Moscow moskau moskva moscou
    Europe/Paris lyon marseille
    Europe/Prague prag praha praga brno
    Europe/Rome rom roma milan milano mailand napoli
    Europe/Stockholm göteborg gothenburg
    Europe/Tallinn reval
    Europe/Vienna wien vienne viena bécs becs salzburg graz
    Europe/Warsaw warschau warszawa varsovie varsovia krakow kraków
    Europe/Zagreb agram
    Europe/Zurich zürich zuerich zurigo geneva genf genève basel bern
    Africa/Cairo kairo caire
    America/Chicago cst cdt dallas houston
    America/Denver mdt
    America/Havana havanna habana
    America/Los_Angeles pst pdt san_francisco seattle
    America/Mexico_City mexico mexiko
    America/New_York edt boston washington miami
    America/Sao_Paulo são_paulo rio_de_janeiro
    Asia/Kolkata delhi new_delhi mumbai bombay bangalore
    Asia/Riyadh riad
    Asia/Seoul kst
    Asia/Shanghai beijing peking
    Asia/Tokyo tokio jst osaka
    Australia/Sydney aest aedt
    """
}
