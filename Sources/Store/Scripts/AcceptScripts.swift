import RedisClient

extension Scripts {
  /// Messages of one app and hour all of whose targets live here, in their home; one that is known is passed over. KEYS seq,
  /// ready, waiting, segment, segments, listing, hours, singles, then per message: message, work, deliveries, streams… · ARGV hour,
  /// retention, listing's life, channel, partition, 1 if some may have been stored long ago, messages, deliveries, raw ids…,
  /// then per message: number of its arguments with this one, number of its streams, number of message fields, fields…, part…
  static let acceptHere = RedisScript(
    "acceptHere",
    "#!lua\n" + Fragment.archive + Fragment.addPart + """
      local seg, listing, hours = KEYS[4], KEYS[6], KEYS[7]
      local hour, life, messages = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[7])
      local listed = {}
      for i = 1, messages do
        listed[2 * i - 1] = '0'
        listed[2 * i] = ARGV[8 + i]
      end
      redis.call('ZADD', listing, unpack(listed))
      -- An hour more than is asked for, so that not every message has to renew it.
      if redis.call('TTL', listing) < life then
        redis.call('EXPIRE', listing, life + 3600)
        redis.call('ZADD', hours, hour, hour)
        redis.call('EXPIRE', hours, life + 3600, 'NX')
        redis.call('EXPIRE', hours, life + 3600, 'GT')
      end
      local base = redis.call('INCRBY', KEYS[1], ARGV[8]) - ARGV[8] + 1
      local at, key = 9 + messages, 9
      for i = 1, messages do
        local id, m, w, d = ARGV[8 + i], KEYS[key], KEYS[key + 1], KEYS[key + 2]
        local part = at + 3 + ARGV[at + 2]
        if redis.call('EXISTS', m) == 0 and (ARGV[6] == '0'
          or redis.call('HEXISTS', seg, 'a' .. id) == 0 and redis.call('HEXISTS', seg, 'm' .. id) == 0
            and redis.call('HEXISTS', seg, 's' .. id) == 0 and redis.call('HEXISTS', KEYS[8], id) == 0) then
          local ended = addPart(part, id, w, d, base, key + 3, KEYS[2], KEYS[3], ARGV[4], ARGV[5])
          redis.call('HSET', m, unpack(ARGV, at + 3, part - 1))
          if ended then
            close(id, redis.call('HGETALL', w), redis.call('HGETALL', d), m, seg, KEYS[5], nil, hour, ARGV[2], '1', nil)
            drop(w)
            drop(d)
          end
        end
        base = base + ARGV[part + 1]
        key = key + 3 + ARGV[at + 1]
        at = at + ARGV[at]
      end
      settle()
      return 1
      """)

  /// A message of several partitions, stored at home before it spreads. KEYS message, spread, spreading, segment, listing,
  /// hours, singles · ARGV raw id, hour, listing's life, milliseconds, number of fields, fields…, number of parts, (partition,
  /// part)…
  static let acceptHome = RedisScript(
    "acceptHome",
    """
    #!lua
    local m, seg = KEYS[1], KEYS[4]
    if redis.call('EXISTS', m) == 1 or redis.call('HEXISTS', seg, 'a' .. ARGV[1]) == 1
      or redis.call('HEXISTS', seg, 'm' .. ARGV[1]) == 1 or redis.call('HEXISTS', seg, 's' .. ARGV[1]) == 1
      or redis.call('HEXISTS', KEYS[7], ARGV[1]) == 1 then return 0 end
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
  /// waiting, segment, segments, finished, streams… · ARGV raw id, hour, retention, channel, partition, part… → 0: it was
  /// known, 1, or how it ended if nothing of it is left to do
  static let addPart = RedisScript(
    "addPart",
    "#!lua\n" + Fragment.archive + Fragment.addPart + """
      local id, w, seg = ARGV[1], KEYS[1], KEYS[7]
      if redis.call('EXISTS', w) == 1 or redis.call('HEXISTS', seg, 'w' .. id) == 1
        or redis.call('HEXISTS', KEYS[9], id) == 1 then return 0 end
      local base = redis.call('INCRBY', KEYS[4], ARGV[7]) - ARGV[7] + 1
      if addPart(6, id, w, KEYS[2], base, 10, KEYS[5], KEYS[6], ARGV[4], ARGV[5]) then
        local ending = keepPart(id, redis.call('HGETALL', w), redis.call('HGETALL', KEYS[2]), seg, KEYS[8], KEYS[9],
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
