import RedisClient

extension Scripts {
  /// A message all of whose targets live in its home. KEYS message, work, deliveries, slices, seq, ready, waiting, segment,
  /// segments, listing, hours, streams… · ARGV raw id, hour, retention, listing's life, number of message fields, fields…,
  /// part…
  static let acceptHere = RedisScript(
    "acceptHere",
    "#!lua\n" + Fragment.archive + Fragment.addPart + """
      local m, seg = KEYS[1], KEYS[8]
      if redis.call('EXISTS', m) == 1 or redis.call('HEXISTS', seg, 'a' .. ARGV[1]) == 1
        or redis.call('HEXISTS', seg, 'm' .. ARGV[1]) == 1 then return 0 end
      local fields = tonumber(ARGV[5])
      local message = {}
      for i = 6, 5 + fields do message[#message + 1] = ARGV[i] end
      redis.call('HSET', m, unpack(message))
      redis.call('ZADD', KEYS[10], 0, ARGV[1])
      redis.call('EXPIRE', KEYS[10], ARGV[4], 'NX')
      redis.call('EXPIRE', KEYS[10], ARGV[4], 'GT')
      redis.call('ZADD', KEYS[11], ARGV[2], ARGV[2])
      redis.call('EXPIRE', KEYS[11], ARGV[4], 'NX')
      redis.call('EXPIRE', KEYS[11], ARGV[4], 'GT')
      if addPart(6 + fields, KEYS[2], KEYS[3], KEYS[5], KEYS[6], KEYS[7], 12) then
        close(ARGV[1], redis.call('HGETALL', KEYS[2]), redis.call('HGETALL', KEYS[3]), m, seg, KEYS[9], nil, ARGV[2],
          ARGV[3], '1', nil)
        drop(KEYS[2])
        drop(KEYS[3])
        settle()
      end
      return 1
      """)

  /// A message of several partitions, stored at home before it spreads. KEYS message, spread, spreading, segment, listing,
  /// hours · ARGV raw id, hour, listing's life, milliseconds, number of fields, fields…, number of parts, (partition,
  /// part)…
  static let acceptHome = RedisScript(
    "acceptHome",
    """
    #!lua
    local m, seg = KEYS[1], KEYS[4]
    if redis.call('EXISTS', m) == 1 or redis.call('HEXISTS', seg, 'a' .. ARGV[1]) == 1
      or redis.call('HEXISTS', seg, 'm' .. ARGV[1]) == 1 then return 0 end
    local fields = tonumber(ARGV[5])
    local message = {}
    for i = 6, 5 + fields do message[#message + 1] = ARGV[i] end
    redis.call('HSET', m, unpack(message))
    local at = 6 + fields
    local parts = tonumber(ARGV[at])
    for i = 1, parts do redis.call('HSET', KEYS[2], ARGV[at + 2 * i - 1], ARGV[at + 2 * i]) end
    redis.call('ZADD', KEYS[3], ARGV[4], ARGV[1])
    redis.call('ZADD', KEYS[5], 0, ARGV[1])
    redis.call('EXPIRE', KEYS[5], ARGV[3], 'NX')
    redis.call('EXPIRE', KEYS[5], ARGV[3], 'GT')
    redis.call('ZADD', KEYS[6], ARGV[2], ARGV[2])
    redis.call('EXPIRE', KEYS[6], ARGV[3], 'NX')
    redis.call('EXPIRE', KEYS[6], ARGV[3], 'GT')
    return 1
    """)

  /// One partition's part of a spreading message, unless it is known there. KEYS work, deliveries, slices, seq, ready,
  /// waiting, segment, segments, finished, streams… · ARGV raw id, hour, retention, part… → 0: it was known, 1, or how it
  /// ended if nothing of it is left to do
  static let addPart = RedisScript(
    "addPart",
    "#!lua\n" + Fragment.archive + Fragment.addPart + """
      local w, seg = KEYS[1], KEYS[7]
      if redis.call('EXISTS', w) == 1 or redis.call('HEXISTS', seg, 'w' .. ARGV[1]) == 1
        or redis.call('HEXISTS', KEYS[9], ARGV[1]) == 1 then return 0 end
      if addPart(4, w, KEYS[2], KEYS[4], KEYS[5], KEYS[6], 10) then
        local ending = keepPart(ARGV[1], redis.call('HGETALL', w), redis.call('HGETALL', KEYS[2]), seg, KEYS[8], KEYS[9],
          ARGV[2], ARGV[3])
        drop(w)
        drop(KEYS[2])
        settle()
        return ending
      end
      return 1
      """)

  /// Ends a part that cannot be read, unless it is known there: all its deliveries count as `counter`. KEYS work, segment,
  /// segments, finished, odd · ARGV raw id, hour, seconds kept, counter, number of deliveries → as `addPart`
  static let losePart = RedisScript(
    "losePart",
    "#!lua flags=allow-oom\n" + Fragment.archive + """
      if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('HEXISTS', KEYS[2], 'w' .. ARGV[1]) == 1
        or redis.call('HEXISTS', KEYS[4], ARGV[1]) == 1 then return 0 end
      local counters = pack({ARGV[4], ARGV[5]})
      keep(KEYS[2], KEYS[3], ARGV[2], ARGV[3], 'w' .. ARGV[1], counters)
      redis.call('HSET', KEYS[4], ARGV[1], '1' .. counters)
      redis.call('INCR', KEYS[5])
      settle()
      return '1' .. counters
      """)

  /// All parts are where they belong. KEYS message, spread, spreading · ARGV raw id
  static let spreadDone = RedisScript(
    "spreadDone",
    """
    #!lua flags=allow-oom
    if redis.call('EXISTS', KEYS[1]) == 1 then
      redis.call('HSET', KEYS[1], 'st', 'q')
      redis.call('HDEL', KEYS[1], 'pn')
    end
    redis.call('DEL', KEYS[2])
    redis.call('ZREM', KEYS[3], ARGV[1])
    return 1
    """)

  /// KEYS idempotency · ARGV digest, raw id, seconds kept, milliseconds of work → word, id
  static let reserve = RedisScript(
    "reserve",
    "#!lua\n" + Fragment.clock + """
      local held = redis.call('HMGET', KEYS[1], 'd', 'id', 'st', 'at')
      local time = now()
      if not held[1] then
        redis.call('HSET', KEYS[1], 'd', ARGV[1], 'id', ARGV[2], 'st', 'w', 'at', time)
        redis.call('EXPIRE', KEYS[1], ARGV[3])
        return {'new', ARGV[2]}
      end
      if held[1] ~= ARGV[1] then return {'reused', held[2]} end
      if held[3] == 'd' then return {'done', held[2]} end
      if held[3] ~= 'u' and tonumber(held[4]) > time - tonumber(ARGV[4]) then return {'busy', held[2]} end
      redis.call('HSET', KEYS[1], 'st', 'w', 'at', time)
      return {'again', held[2]}
      """)

  /// KEYS idempotency · ARGV raw id, 'd' done or 'u' not confirmed by replicas: what a repeat has to ask for once more
  static let confirm = RedisScript(
    "confirm",
    """
    #!lua flags=allow-oom
    if redis.call('HGET', KEYS[1], 'id') == ARGV[1] then redis.call('HSET', KEYS[1], 'st', ARGV[2]) end
    return 1
    """)
}
