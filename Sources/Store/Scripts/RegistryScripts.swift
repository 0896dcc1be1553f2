import RedisClient

extension Scripts {
  /// A fresh number, or one freed long ago. KEYS last number, free numbers · ARGV freed before
  static let allocate = RedisScript(
    "allocate",
    """
    #!lua
    local old = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', ARGV[1], 'LIMIT', 0, 1)[1]
    if old then
      redis.call('ZREM', KEYS[2], old)
      return tonumber(old)
    end
    return redis.call('INCR', KEYS[1]) - 1
    """)

  /// KEYS free numbers · ARGV number, when
  static let free = RedisScript(
    "free", "#!lua flags=allow-oom\nreturn redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])")

  /// Compares and writes a device. KEYS record bucket, index bucket, sizes of sets, free numbers, tombstones, sets… · ARGV field in
  /// the record bucket, expected record, new record or '', field in the index, expected index value, new index value, number
  /// within the block, limit of small sets, freed at, number, sets to leave, time of its tombstone or '', member of tombstones, names of sets: first those to leave.
  /// → 1, or 0: it was not as expected.
  static let writeDevice = RedisScript(
    "writeDevice",
    """
    #!lua flags=allow-oom
    if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
    if (redis.call('HGET', KEYS[2], ARGV[4]) or '') ~= ARGV[5] then return 0 end
    if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1]) else redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) end
    if ARGV[6] ~= ARGV[5] then
      if ARGV[6] == '' then redis.call('HDEL', KEYS[2], ARGV[4]) else redis.call('HSET', KEYS[2], ARGV[4], ARGV[6]) end
    end
    if ARGV[3] == '' then redis.call('ZADD', KEYS[4], ARGV[9], ARGV[10]) end
    if ARGV[12] ~= '' then
      redis.call('ZADD', KEYS[5], ARGV[12], ARGV[13])
    else
      redis.call('ZREM', KEYS[5], ARGV[13])
    end
    local offset, limit, leave = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[11])

    local function toBitmap(key)
      local bytes = {}
      for i = 1, 8192 do bytes[i] = 0 end
      for _, member in ipairs(redis.call('SMEMBERS', key)) do
        local n = member + 32768
        local place = math.floor(n / 8) + 1
        bytes[place] = bytes[place] + 2 ^ (7 - n % 8)
      end
      local parts = {}
      for i = 1, 8192, 1024 do parts[#parts + 1] = string.char(unpack(bytes, i, i + 1023)) end
      redis.call('DEL', key)
      redis.call('SET', key, table.concat(parts))
    end

    for i = 6, #KEYS do
      local key, name = KEYS[i], ARGV[8 + i]
      local bitmap = redis.call('TYPE', key).ok == 'string'
      if i - 5 <= leave then
        local left
        if bitmap then
          left = redis.call('SETBIT', key, offset, 0)
        else
          left = redis.call('SREM', key, offset - 32768)
        end
        if left == 1 and redis.call('HINCRBY', KEYS[3], name, -1) <= 0 then
          redis.call('HDEL', KEYS[3], name)
          redis.call('DEL', key)
        end
      elseif bitmap then
        if redis.call('SETBIT', key, offset, 1) == 0 then redis.call('HINCRBY', KEYS[3], name, 1) end
      elseif redis.call('SADD', key, offset - 32768) == 1 then
        redis.call('HINCRBY', KEYS[3], name, 1)
        if redis.call('SCARD', key) > limit then toBitmap(key) end
      end
    end
    return 1
    """)

  /// A tombstone that is none any more, unless it became one again. KEYS tombstones · ARGV member, its time
  static let unbury = RedisScript(
    "unbury",
    """
    #!lua flags=allow-oom
    local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
    if at and tonumber(at) == tonumber(ARGV[2]) then redis.call('ZREM', KEYS[1], ARGV[1]) end
    return 1
    """)

  /// Blocks of sets, each as a bitmap or as members. KEYS sets…
  static let readBlock = RedisScript(
    "readBlock",
    """
    #!lua flags=no-writes
    local out = {}
    for i = 1, #KEYS do
      local type = redis.call('TYPE', KEYS[i]).ok
      if type == 'string' then
        out[i] = redis.call('GET', KEYS[i])
      elseif type == 'set' then
        out[i] = redis.call('SMEMBERS', KEYS[i])
      else
        out[i] = {}
      end
    end
    return out
    """)

  /// Points a token's derived id at a device. KEYS alias bucket · ARGV derived id, device → the device before, or nil
  static let point = RedisScript(
    "point",
    """
    #!lua flags=allow-oom
    local old = redis.call('HGET', KEYS[1], ARGV[1])
    redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
    return old
    """)

  /// Unless it points elsewhere by now. KEYS alias bucket · ARGV derived id, device
  static let unpoint = RedisScript(
    "unpoint",
    """
    #!lua flags=allow-oom
    if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('HDEL', KEYS[1], ARGV[1]) end
    return 1
    """)
}
