/// A number as people read it, with a comma before each three digits: 412003 as 412,003.
package func grouped(_ number: some BinaryInteger) -> String {
  var digits = Array(String(number))
  var place = digits.count - 3
  while place > (number < 0 ? 1 : 0) {
    digits.insert(",", at: place)
    place -= 3
  }
  return String(digits)
}
