import RedisClient

extension Scripts {
  /// Numbers freed long ago, then fresh ones. KEYS last number, free numbers · ARGV freed before, how many
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
    return numbers
    """)

  /// A number without a record becomes free. KEYS free numbers, record bucket · ARGV number, field, when it became so → 1: done
  static let free = RedisScript(
    "free",
    """
    #!lua flags=allow-oom
    if redis.call('HEXISTS', KEYS[2], ARGV[2]) == 1 then return 0 end
    return redis.call('ZADD', KEYS[1], 'NX', ARGV[3], ARGV[1])
    """)

  /// Numbers for texts. KEYS words · ARGV limit, texts → per text its number, or -1: no room
  static let intern = RedisScript(
    "intern",
    """
    #!lua flags=allow-oom
    local out, count, limit = {}, redis.call('HLEN', KEYS[1]), tonumber(ARGV[1])
    for i = 2, #ARGV do
      local number = redis.call('HGET', KEYS[1], ARGV[i])
      if not number and count < limit then
        number = count
        redis.call('HSET', KEYS[1], ARGV[i], count)
        count = count + 1
      end
      out[i - 1] = tonumber(number or -1)
    end
    return out
    """)

  /// Compares and writes devices with all their sets: all of them or none. KEYS free numbers, tombstones, words; per device: record
  /// bucket, index bucket; per set: bucket, own key · ARGV devices, words, time; per device: create, update or delete (c, u, d),
  /// field in the record bucket, expected record, new record, hash of its id, number, numbers expected under that hash, time of
  /// its tombstone or '' or '-' (none any more), member of tombstones; per set: name, numbers to add, to remove.
  /// → places of the devices that were not as expected, or -1: words are missing
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

  /// Points hashes of tokens at devices. KEYS alias buckets, one for each · ARGV for each: hash, device → for each the devices that
  /// it pointed to before
  static let point = RedisScript(
    "point",
    """
    #!lua flags=allow-oom
    local out = {}
    for k = 1, #KEYS do
      local wanted, to = ARGV[k * 2 - 1], ARGV[k * 2]
      local held, kept, others, known = redis.call('GET', KEYS[k]) or '', {}, {}, false
      for i = 1, #held, 12 do
        local entry = string.sub(held, i, i + 11)
        if string.sub(entry, 1, 6) ~= wanted then
          kept[#kept + 1] = entry
        elseif string.sub(entry, 7) == to then
          known = true
        else
          others[#others + 1] = string.sub(entry, 7)
        end
      end
      if not known or #others > 0 then
        kept[#kept + 1] = wanted .. to
        redis.call('SET', KEYS[k], table.concat(kept))
      end
      out[k] = others
    end
    return out
    """)

  /// Takes a token's hash from a device. KEYS alias bucket · ARGV hash and device
  static let unpoint = RedisScript(
    "unpoint",
    """
    #!lua flags=allow-oom
    local held, kept = redis.call('GET', KEYS[1]) or '', {}
    for i = 1, #held, 12 do
      local entry = string.sub(held, i, i + 11)
      if entry ~= ARGV[1] then kept[#kept + 1] = entry end
    end
    if #kept * 12 == #held then return 0 end
    if #kept == 0 then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], table.concat(kept)) end
    return 1
    """)
}

extension Fragment {
  /// The body of `writeDevices`.
  static let writeDevices =
    sets + index + """
      local devices = tonumber(ARGV[1])
      if redis.call('HLEN', KEYS[3]) < tonumber(ARGV[2]) then return -1 end
      local odd = {}
      local at, key = 4, 4
      for i = 1, devices do
        if (redis.call('HGET', KEYS[key], ARGV[at + 1]) or '') ~= ARGV[at + 2] then
          odd[#odd + 1] = i
        elseif ARGV[at] == 'c' and numbers(redis.call('GET', KEYS[key + 1]), ARGV[at + 4]) ~= ARGV[at + 6] then
          odd[#odd + 1] = i
        end
        at = at + 9
        key = key + 2
      end
      if #odd > 0 then return odd end
      at, key = 4, 4
      for i = 1, devices do
        local act, field, new = ARGV[at], ARGV[at + 1], ARGV[at + 3]
        if act == 'd' then
          redis.call('HDEL', KEYS[key], field)
          leave(KEYS[key + 1], ARGV[at + 4] .. ARGV[at + 5])
          redis.call('ZADD', KEYS[1], ARGV[3], (struct.unpack('>I4', ARGV[at + 5])))
        else
          redis.call('HSET', KEYS[key], field, new)
          if act == 'c' then
            enter(KEYS[key + 1], ARGV[at + 4] .. ARGV[at + 5])
            redis.call('ZREM', KEYS[1], (struct.unpack('>I4', ARGV[at + 5])))
          end
        end
        if ARGV[at + 7] == '-' then
          redis.call('ZREM', KEYS[2], ARGV[at + 8])
        elseif ARGV[at + 7] ~= '' then
          redis.call('ZADD', KEYS[2], ARGV[at + 7], ARGV[at + 8])
        end
        at = at + 9
        key = key + 2
      end
      while at < #ARGV do
        change(KEYS[key], KEYS[key + 1], ARGV[at], ARGV[at + 1], ARGV[at + 2])
        at = at + 3
        key = key + 2
      end
      return {}

      """

  /// An index bucket: entries of a hash and a number, four bytes each.
  static let index = """
    local function numbers(held, hash)
      local found = ''
      held = held or ''
      for i = 1, #held, 8 do
        if string.sub(held, i, i + 3) == hash then found = found .. string.sub(held, i + 4, i + 7) end
      end
      return found
    end
    local function enter(key, entry) redis.call('SET', key, (redis.call('GET', key) or '') .. entry) end
    local function leave(key, entry)
      local held = redis.call('GET', key) or ''
      for i = 1, #held, 8 do
        if string.sub(held, i, i + 7) == entry then
          held = string.sub(held, 1, i - 1) .. string.sub(held, i + 8)
          if held == '' then redis.call('DEL', key) else redis.call('SET', key, held) end
          return true
        end
      end
      return false
    end

    """
}
