import RedisClient

/// Looking for what was aimed at one device, a bounded piece at a time. A text that is found may stand there by chance:
/// the reader compares.
extension Scripts {
  /// Finished parts whose packed list holds a text. KEYS segment · ARGV cursor, count, text → next cursor, raw ids….
  /// Inline messages have no mark before their id: KEYS inline messages · ARGV cursor, count, text, 1
  static let scanSegment = RedisScript(
    "scanSegment",
    """
    #!lua flags=no-writes
    local page = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
    local found = {page[1]}
    for i = 1, #page[2], 2 do
      local mark = ARGV[4] and 0 or string.byte(page[2][i])
      if (mark == 0 or mark == 97 or mark == 115 or mark == 119)
        and string.find(page[2][i + 1], ARGV[3], 1, true) then
        found[#found + 1] = string.sub(page[2][i], mark == 0 and 1 or 2)
      end
    end
    return found
    """)

  /// Jobs whose targets hold a text. KEYS stream · ARGV first entry, count, text → last entry or '', raw ids…
  static let scanStream = RedisScript(
    "scanStream",
    """
    #!lua flags=no-writes
    local found = {''}
    for _, entry in ipairs(redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])) do
      found[1] = entry[1]
      local fields = entry[2]
      if fields[7] == 't' and string.find(fields[8], ARGV[3], 1, true) then found[#found + 1] = fields[2] end
    end
    return found
    """)

  /// Which live parts have a text in their list, or are audiences. KEYS work… · ARGV text → 0, 1, or 2 for an audience
  static let aimedShards = RedisScript(
    "aimedParts",
    """
    #!lua flags=no-writes
    local out = {}
    for i = 1, #KEYS do
      local part = redis.call('HMGET', KEYS[i], 'a', 't', 'ps')
      if part[1] then
        out[i] = 2
      else
        out[i] = part[2] and string.find(part[2], ARGV[1], 1, true) and 1 or 0
        for step = 1, tonumber(part[3] or 1) - 1 do
          if out[i] == 1 then break end
          local list = redis.call('HGET', KEYS[i], 't' .. step)
          if list and string.find(list, ARGV[1], 1, true) then out[i] = 1 end
        end
      end
    end
    return out
    """)
}
