import RedisClient

extension Scripts {
  /// Messages of one app and hour all of whose targets live here, in their home; one that is known is passed over. KEYS
  /// seq, ready, waiting, segment, segments, listing, hours, inline messages, keyed, ends of hours, then per message:
  /// message, work, deliveries, streams…, and tallies · ARGV hour, retention, listing's life, channel, partition, 1 if
  /// some may have been stored long ago, messages, deliveries, seconds that an idempotency key lives, when the first of
  /// theirs ends, raw ids of those with a key in a row, raw ids…, then per message: number of its arguments with this
  /// one, number of its streams, number of message fields, fields…, part… → 1, or 0: a key may have ended, and nothing
  /// was done
  static let acceptHere = RedisScript(
    "acceptHere",
    "#!lua\n" + Fragment.archive + Fragment.addShard + Fragment.keyed + Fragment.listed + """
      local seg, listing, hours = KEYS[4], KEYS[6], KEYS[7]
      local hour, life, messages = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[7])
      local ids, known = keyed(KEYS[9], ARGV[11], ARGV[10])
      if not ids then return 0 end
      local rows = {}
      for i = 1, messages do
        rows[2 * i - 1] = '0'
        rows[2 * i] = ARGV[11 + i]
      end
      redis.call('ZADD', listing, unpack(rows))
      -- An hour more than is asked for, so that not every message has to renew it.
      if redis.call('TTL', listing) < life then
        redis.call('EXPIRE', listing, life + 3600)
        listed(hours, KEYS[10], hour, life + 3600)
      end
      local base = redis.call('INCRBY', KEYS[1], ARGV[8]) - ARGV[8] + 1
      local at, key = 12 + messages, 11
      for i = 1, messages do
        local id, m, w, d = ARGV[11 + i], KEYS[key], KEYS[key + 1], KEYS[key + 2]
        local part = at + 3 + ARGV[at + 2]
        if not known[id] and redis.call('EXISTS', m) == 0 and (ARGV[6] == '0'
          or redis.call('HEXISTS', seg, 'a' .. id) == 0 and redis.call('HEXISTS', seg, 'm' .. id) == 0
            and redis.call('HEXISTS', seg, 's' .. id) == 0 and redis.call('HEXISTS', KEYS[8], id) == 0) then
          local ended = addPart(part, id, w, d, base, key + 3, KEYS[2], KEYS[3], ARGV[4], ARGV[5])
          redis.call('HSET', m, unpack(ARGV, at + 3, part - 1))
          if ended then
            close(id, redis.call('HGETALL', w), redis.call('HGETALL', d), m, seg, KEYS[5], nil, hour, ARGV[2], '1', nil)
            drop(w)
            drop(d)
          end
          known[id] = true
        end
        base = base + ARGV[part + 1]
        key = key + 3 + ARGV[at + 1]
        at = at + ARGV[at]
      end
      settle()
      settleTallies()
      remember(KEYS[9], ids, ARGV[9])
      return 1
      """)

  /// A message of several partitions, stored at home before it spreads. KEYS message, spread, spreading, segment,
  /// listing, hours, inline messages, keyed, ends of hours · ARGV raw id, hour, listing's life, milliseconds, number of
  /// fields, fields…, number of parts, (partition, part)…, number of fields that were staged, and as `acceptHere` takes
  /// them of its idempotency key: life, end, its id or '' → 1; 0: it was stored before; -1: its key may have ended; -2:
  /// what was staged has ended
  static let acceptHome = RedisScript(
    "acceptHome",
    "#!lua\n" + Fragment.clock + Fragment.keyed + Fragment.listed + """
      local m, seg = KEYS[1], KEYS[4]
      local ids, known = keyed(KEYS[8], ARGV[#ARGV], ARGV[#ARGV - 1])
      if not ids then return -1 end
      if known[ARGV[1]] then return 0 end
      if redis.call('EXISTS', m) == 1 or redis.call('HEXISTS', seg, 'a' .. ARGV[1]) == 1
        or redis.call('HEXISTS', seg, 'm' .. ARGV[1]) == 1 or redis.call('HEXISTS', seg, 's' .. ARGV[1]) == 1
        or redis.call('HEXISTS', KEYS[7], ARGV[1]) == 1 then return 0 end
      local staged = tonumber(ARGV[#ARGV - 3])
      if redis.call('HLEN', KEYS[2]) < staged then return -2 end
      local fields = tonumber(ARGV[5])
      local message = {}
      for i = 6, 5 + fields do message[#message + 1] = ARGV[i] end
      redis.call('HSET', m, unpack(message))
      local at = 6 + fields
      local parts = tonumber(ARGV[at])
      for i = 1, parts do redis.call('HSET', KEYS[2], ARGV[at + 2 * i - 1], ARGV[at + 2 * i]) end
      if staged > 0 then
        redis.call('HSET', m, 'b', redis.call('HGET', KEYS[2], 'b'))
        redis.call('HDEL', KEYS[2], 'b')
        redis.call('PERSIST', KEYS[2])
      end
      redis.call('ZADD', KEYS[3], ARGV[4], ARGV[1])
      redis.call('ZADD', KEYS[5], 0, ARGV[1])
      redis.call('EXPIRE', KEYS[5], ARGV[3], 'NX')
      redis.call('EXPIRE', KEYS[5], ARGV[3], 'GT')
      listed(KEYS[6], KEYS[9], ARGV[2], tonumber(ARGV[3]))
      remember(KEYS[8], ids, ARGV[#ARGV - 2])
      return 1
      """)

  /// One partition's part of a spreading message, unless it is known there. KEYS work, deliveries, slices, seq, ready,
  /// waiting, segment, segments, finished, streams…, tallies · ARGV raw id, hour, retention, channel, partition, part…
  /// → 0: it was known, 1, or how it ended if nothing of it is left to do
  static let addShard = RedisScript(
    "addPart",
    "#!lua\n" + Fragment.archive + Fragment.addShard + """
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
        settleTallies()
        return ending
      end
      settleTallies()
      return 1
      """)

  /// A step of one partition's part of a long list, unless it is known there; the first one makes the part. KEYS as
  /// `addShard`, with kept before the streams · ARGV as `addShard`, with which step it is, the index of its first
  /// delivery, and the number of the part's deliveries before the part → as `addShard`
  static let addStep = RedisScript(
    "addStep",
    "#!lua\n" + Fragment.archive + Fragment.addShard + Fragment.keepInPlace + """
      local id, w, seg = ARGV[1], KEYS[1], KEYS[7]
      local step = {number = tonumber(ARGV[6]), first = tonumber(ARGV[7]), total = ARGV[8]}
      local here = redis.call('HGET', w, 'ps')
      if step.number > 0 then
        if here ~= ARGV[6] then return 0 end
      elseif here or redis.call('EXISTS', w) == 1 or redis.call('HEXISTS', seg, 'w' .. id) == 1
        or redis.call('HEXISTS', KEYS[9], id) == 1 then
        return 0
      end
      local base = redis.call('INCRBY', KEYS[4], ARGV[10]) - ARGV[10] + 1
      if not addPart(9, id, w, KEYS[2], base, 11, KEYS[5], KEYS[6], ARGV[4], ARGV[5], step) then
        settleTallies()
        return 1
      end
      settleTallies()
      if tonumber(step.total) > inPlaceFrom then
        return keepInPlace(id, {w, KEYS[2], KEYS[3]}, KEYS[8], KEYS[10], KEYS[9], ARGV[2], ARGV[3])
      end
      local ending = keepPart(id, redis.call('HGETALL', w), redis.call('HGETALL', KEYS[2]), seg, KEYS[8], KEYS[9],
        ARGV[2], ARGV[3])
      drop(w)
      drop(KEYS[2])
      settle()
      return ending
      """)

  /// Some of what a message is to spread, before the message is stored: until then it goes by itself. KEYS message,
  /// spread · ARGV seconds, field, value → 0: the message is stored
  static let stage = RedisScript(
    "stage",
    """
    #!lua
    if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
    redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
    redis.call('EXPIRE', KEYS[2], ARGV[1])
    return 1
    """)

  /// Ends a part that cannot be read, unless it is known there: all its deliveries count as `counter`. KEYS work,
  /// segment, segments, finished, odd, tallies · ARGV raw id, hour, seconds kept, counter, number of deliveries → as
  /// `addShard`
  static let loseShard = RedisScript(
    "losePart",
    "#!lua flags=allow-oom\n" + Fragment.archive + Fragment.tally + """
      if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('HEXISTS', KEYS[2], 'w' .. ARGV[1]) == 1
        or redis.call('HEXISTS', KEYS[4], ARGV[1]) == 1 then return 0 end
      local counters = pack({ARGV[4], ARGV[5]})
      keep(KEYS[2], KEYS[3], ARGV[2], ARGV[3], 'w' .. ARGV[1], counters)
      redis.call('HSET', KEYS[4], ARGV[1], '1' .. counters)
      redis.call('INCR', KEYS[5])
      tally(ARGV[4], ARGV[5])
      settleTallies()
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

  /// KEYS idempotency · ARGV digest, raw id, seconds kept, milliseconds of work → word, id, when the key ends
  static let reserve = RedisScript(
    "reserve",
    "#!lua\n" + Fragment.clock + """
      local held = redis.call('HMGET', KEYS[1], 'd', 'id', 'st', 'at')
      local time = now()
      if not held[1] then
        redis.call('HSET', KEYS[1], 'd', ARGV[1], 'id', ARGV[2], 'st', 'w', 'at', time)
        redis.call('EXPIRE', KEYS[1], ARGV[3])
        return {'new', ARGV[2], redis.call('PEXPIRETIME', KEYS[1])}
      end
      if held[1] ~= ARGV[1] then return {'reused', held[2]} end
      if held[3] == 'd' then return {'done', held[2]} end
      if held[3] ~= 'u' and tonumber(held[4]) > time - tonumber(ARGV[4]) then return {'busy', held[2]} end
      redis.call('HSET', KEYS[1], 'st', 'w', 'at', time)
      return {'again', held[2], redis.call('PEXPIRETIME', KEYS[1])}
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
