import RedisClient

extension Scripts {
  /// Numbers freed long ago, then fresh ones. For an import with the intent that names them, so that they are found should it be cut
  /// off. KEYS last number, free numbers; for an import: intents · ARGV freed before, how many; for an import: name of the intent,
  /// what it says before and behind the numbers → numbers, and for an import the fields of the intents that were there before
  static let allocate = RedisScript(
    "allocate",
    """
    #!lua
    local wanted = tonumber(ARGV[2])
    local numbers = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[1], 'LIMIT', 0, wanted)
    if #numbers > 0 then redis.call('ZREM', KEYS[2], unpack(numbers)) end
    for i = 1, #numbers do numbers[i] = tonumber(numbers[i]) end
    local missing = wanted - #numbers
    if missing > 0 then
      local last = redis.call('INCRBY', KEYS[1], missing)
      for i = last - missing, last - 1 do numbers[#numbers + 1] = i end
    end
    if KEYS[3] then
      local others, raw = redis.call('HKEYS', KEYS[3]), {}
      for i = 1, #numbers do raw[i] = struct.pack('>I4', numbers[i]) end
      redis.call('HSET', KEYS[3], ARGV[3], ARGV[4] .. table.concat(raw) .. ARGV[5], '#' .. ARGV[3], '0')
      for i = 1, #others do numbers[wanted + i] = others[i] end
    end
    return numbers
    """)

  /// A number without a record becomes free. KEYS free numbers, record bucket · ARGV number, when it became so → 1: done
  static let free = RedisScript(
    "free",
    "#!lua flags=allow-oom\n" + Fragment.records + """
      if entryOf(redis.call('GET', KEYS[2]) or '', tonumber(ARGV[1])) ~= '' then return 0 end
      return redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1])
      """)

  /// Numbers for texts. KEYS words · ARGV limit, texts → per text its number, or -1: no room
  static let intern = RedisScript(
    "intern",
    """
    #!lua flags=allow-oom
    local out, count, limit = {}, redis.call('HLEN', KEYS[1]), tonumber(ARGV[1])
    for i = 2, #ARGV do
      local number
      if count < limit and redis.call('HSETNX', KEYS[1], ARGV[i], count) == 1 then
        number = count
        count = count + 1
      else
        number = redis.call('HGET', KEYS[1], ARGV[i])
      end
      out[i - 1] = tonumber(number or -1)
    end
    return out
    """)

  /// Compares and writes devices with all their sets: all of them or none.
  static let writeDevices = RedisScript("writeDevices", "#!lua flags=allow-oom\n" + Fragment.writeDevices)

  /// The same by the owner of the partition. KEYS lease, then as above · ARGV owner, then as above
  static let writeOwnDevices = RedisScript(
    "writeOwnDevices",
    "#!lua flags=allow-oom\n" + Fragment.owner + """
      table.remove(KEYS, 1)
      table.remove(ARGV, 1)

      """ + Fragment.writeDevices)

  /// A tombstone that is none any more, unless it became one again. KEYS tombstones · ARGV member, its time
  static let unbury = RedisScript(
    "unbury",
    """
    #!lua flags=allow-oom
    local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
    if at and tonumber(at) == tonumber(ARGV[2]) then redis.call('ZREM', KEYS[1], ARGV[1]) end
    return 1
    """)

  /// Enters devices for hashes of tokens, behind those that are there. KEYS for each: alias bucket, index bucket of the
  /// token's own id · ARGV for each: hash of the token, entry, whether another entry of the device will do, partition and hash of the
  /// token's own id → for each how many entries stood before its own, those, and the places of devices with the own id; or nothing
  static let point = RedisScript(
    "point",
    "#!lua flags=allow-oom\n" + Fragment.index + """
      local out, held, changed = {}, {}, {}
      for k, value in ipairs(redis.call('MGET', unpack(KEYS))) do held[KEYS[k]] = value or '' end
      for i = 1, #KEYS / 2 do
        local key, hash, entry, any, own = KEYS[i * 2 - 1], ARGV[i * 4 - 3], ARGV[i * 4 - 2], ARGV[i * 4 - 1], ARGV[i * 4]
        local all, before, known = aliased(held[key], hash), {}, false
        for at = 1, #all, #entry do
          local other = string.sub(all, at, at + #entry - 1)
          if other == entry or any == '1' and string.sub(other, 1, 6) == string.sub(entry, 1, 6) then
            known = true
            if any ~= '1' then break end
          else
            before[#before + 1] = other
          end
        end
        if not known then
          held[key] = held[key] .. hash .. entry
          changed[key] = true
        end
        local found = numbers(held[KEYS[i * 2]], string.sub(own, 3))
        out[i] = ''
        if #before > 0 or found ~= '' then out[i] = struct.pack('>I2', #before) .. table.concat(before) end
        for at = 1, #found, 4 do out[i] = out[i] .. string.sub(own, 1, 2) .. string.sub(found, at, at + 3) end
      end
      local list = {}
      for key in pairs(changed) do
        list[#list + 1] = key
        list[#list + 1] = held[key]
      end
      if #list > 0 then redis.call('MSET', unpack(list)) end
      return out
      """)

  /// Takes entries away. KEYS alias buckets · ARGV for each the hash and the entry
  static let unpoint = RedisScript(
    "unpoint",
    "#!lua flags=allow-oom\n" + Fragment.index + """
      for item = 1, #KEYS do
        local held = redis.call('GET', KEYS[item]) or ''
        local left = without(held, ARGV[item])
        if left == '' then redis.call('DEL', KEYS[item])
        elseif left ~= held then redis.call('SET', KEYS[item], left) end
      end
      return {}
      """)
}

extension Fragment {
  /// A bucket of records: for each its place in the bucket × 2^28 + its length, four bytes, and itself. With that head it is
  /// called its entry.
  static let records = """
    local function seek(held, number)
      local at, size, slot = 1, #held - 3, number % \(Keys.recordsPerBucket)
      while at <= size do
        local head = struct.unpack('>I4', held, at)
        local length = head % 268435456
        if head - length == slot * 268435456 then return at, at + 3 + length end
        at = at + 4 + length
      end
    end
    local function entryOf(held, number)
      local first, last = seek(held, number)
      return first and string.sub(held, first, last) or ''
    end
    -- By place in the bucket; an empty one goes.
    local function withEntries(held, entries)
      local out, from, at, size = {}, 1, 1, #held - 3
      while at <= size do
        local head = struct.unpack('>I4', held, at)
        local length = head % 268435456
        local behind = at + 4 + length
        if entries[(head - length) / 268435456] then
          out[#out + 1] = string.sub(held, from, at - 1)
          from = behind
        end
        at = behind
      end
      out[#out + 1] = string.sub(held, from)
      for slot = 0, \(Keys.recordsPerBucket - 1) do out[#out + 1] = entries[slot] end
      return table.concat(out)
    end

    """

  /// An index bucket: entries of a hash and a number, four bytes each. An alias bucket: of a hash, four
  /// bytes, a place, six, and two that tell entries of one device apart.
  static let index = """
    local function behind(held, hash, size)
      local found, at = '', 1
      while true do
        at = string.find(held, hash, at, true)
        if not at then return found end
        if (at - 1) % size == 0 then found = found .. string.sub(held, at + #hash, at + size - 1) end
        at = at + 1
      end
    end
    local function numbers(held, hash) return behind(held, hash, 8) end
    local function aliased(held, hash) return behind(held, hash, 12) end
    local function without(held, entry)
      for i = 1, #held, #entry do
        if string.sub(held, i, i + #entry - 1) == entry then
          return string.sub(held, 1, i - 1) .. string.sub(held, i + #entry)
        end
      end
      return held
    end

    """
}
