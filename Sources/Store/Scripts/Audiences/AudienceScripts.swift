import RedisClient

extension Scripts {
  /// Keeps or removes a named audience, if no other was changed since; the field without a name counts changes. KEYS audiences ·
  /// ARGV count of changes, name, and to keep it: expression, limit → what was done
  static let changeAudience = RedisScript(
    "changeAudience",
    """
    #!lua flags=allow-oom
    if (redis.call('HGET', KEYS[1], '') or '0') ~= ARGV[1] then return 'crossed' end
    local known = redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1
    local done = known and 'replaced' or 'added'
    if not ARGV[3] then
      if not known then return 'missing' end
      redis.call('HDEL', KEYS[1], ARGV[2])
      done = 'removed'
    else
      local count = redis.call('HLEN', KEYS[1]) - redis.call('HEXISTS', KEYS[1], '')
      if not known and count >= tonumber(ARGV[4]) then return 'full' end
      redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
    end
    redis.call('HINCRBY', KEYS[1], '', 1)
    return done
    """)

  /// One partition's part of an audience, to be started at its time, unless it is known there. KEYS work, starts, finished ·
  /// ARGV raw id, members when counted, ttl, start in milliseconds, 1 to keep receipts, channel, partition → 0: it was known
  static let addAudience = RedisScript(
    "addAudience",
    """
    #!lua
    if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('HEXISTS', KEYS[3], ARGV[1]) == 1 then return 0 end
    redis.call('HSET', KEYS[1], 'a', ARGV[2], 'l', ARGV[3], 'at', ARGV[4])
    if ARGV[5] == '1' then redis.call('HSET', KEYS[1], 'rc', 1) end
    redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
    redis.call('PUBLISH', ARGV[6], 's ' .. ARGV[7])
    return 1
    """)

  /// Stores who is in a part, counts what ended before it began, and adds a job for each credential. KEYS lease, work,
  /// snapshot, codes, starts, seq, ready, waiting, ends, finished, segments, kept, streams…, tallies · ARGV owner, raw id, hour,
  /// retention, channel, partition, members, members to be sent, snapshot, when what is left ends, 1 if made for a
  /// cancelled message, number of counters, (counter, count)…, number of jobs, (place of its stream, name, first, count, due
  /// or '')…
  /// → 0: it was started, has ended or is paused; 1: started; 2: it was cancelled meanwhile; or how it ended, if nothing is
  /// left to do
  static let startAudience = RedisScript(
    "startAudience",
    "#!lua\n" + Fragment.owner + Fragment.clock + Fragment.keepInPlace + Fragment.mark + Fragment.tally + """
      local w, id = KEYS[2], ARGV[2]
      local flag = redis.call('HMGET', w, 'a', 'n', 'c')
      if not flag[1] or flag[2] then
        redis.call('ZREM', KEYS[5], id)
        return 0
      end
      local word = flag[3] and string.sub(flag[3], 1, 1)
      if word == 'c' and ARGV[11] ~= '1' then return 2 end
      if word == 'p' and tonumber(now()) < tonumber(ARGV[10]) then
        redis.call('ZADD', KEYS[5], 'XX', ARGV[10], id)
        return 0
      end
      local count, open = tonumber(ARGV[7]), tonumber(ARGV[8])
      local base = redis.call('INCRBY', KEYS[6], count) - count + 1
      redis.call('HSET', w, 's', string.format('%.0f', base), 'n', count, 'x', open, 'r', 0, 'u', ARGV[10])
      local at = 13
      for i = 1, tonumber(ARGV[12]) do
        redis.call('HSET', w, ARGV[at], ARGV[at + 1])
        tally(ARGV[at], ARGV[at + 1])
        at = at + 2
      end
      settleTallies()
      redis.call('SET', KEYS[3], ARGV[9])
      redis.call('ZREM', KEYS[5], id)
      if open == 0 then
        return keepInPlace(id, {w, KEYS[3]}, KEYS[11], KEYS[12], KEYS[10], ARGV[3], ARGV[4])
      end
      -- All at once: a string that grows is given twice its room.
      redis.call('SET', KEYS[4], string.rep('\\0', math.floor((open + 1) / 2)))
      redis.call('ZADD', KEYS[9], ARGV[10], id)
      local jobs = tonumber(ARGV[at])
      at = at + 1
      for i = 1, jobs do
        local name, first = ARGV[at + 1], ARGV[at + 2]
        redis.call('HSET', w, 'j' .. first, ARGV[at + 3])
        if ARGV[at + 4] ~= '' then
          redis.call('ZADD', KEYS[5], ARGV[at + 4], id .. struct.pack('>I4', tonumber(first)))
        else
          redis.call('XADD', KEYS[13 + tonumber(ARGV[at])], string.format('%.0f', base + tonumber(first)) .. mark(id),
            'm', id, 'a', first, 'c', ARGV[at + 3])
          local rings = redis.call('SADD', KEYS[7], name) + redis.call('SREM', KEYS[8], name)
          if rings > 0 then redis.call('PUBLISH', ARGV[5], 'w ' .. ARGV[6] .. ' ' .. name) end
        end
        at = at + 5
      end
      return 1
      """)

  /// Ends members of a job that have no outcome, a bounded range at a time. KEYS lease, work, codes, ends, finished,
  /// segments, kept, ready, stream, snapshot, deliveries, slices, tallies · ARGV owner, raw id, hour, retention, code, first of the
  /// job, its entry, name of the stream, (from, to, counter)… → 0 or how the part ended
  static let endRest = RedisScript(
    "endRest",
    "#!lua flags=allow-oom\n" + Fragment.owner + Fragment.clock + Fragment.keepInPlace + Fragment.tally + """
      local w, codes, id, code = KEYS[2], KEYS[3], ARGV[2], tonumber(ARGV[5])
      local job = 'j' .. ARGV[6]
      local flag = redis.call('HMGET', w, 'x', job)
      if not flag[1] or not flag[2] then return 0 end
      local total = 0
      for at = 9, #ARGV, 3 do
        local from, to = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
        local first = math.floor(from / 2)
        local old = redis.call('GETRANGE', codes, first, math.floor((to - 1) / 2))
        local bytes, ended = {string.byte(old, 1, -1)}, 0
        for i = 1, #bytes do
          local byte, index = bytes[i], (first + i - 1) * 2
          local high = math.floor(byte / 16)
          local low = byte - high * 16
          if high == 0 and index >= from then
            high = code
            ended = ended + 1
          end
          if low == 0 and index + 1 >= from and index + 1 < to then
            low = code
            ended = ended + 1
          end
          bytes[i] = high * 16 + low
        end
        if ended > 0 then
          redis.call('SETRANGE', codes, first, string.char(unpack(bytes)))
          redis.call('HINCRBY', w, ARGV[at + 2], ended)
          tally(ARGV[at + 2], ended)
          total = total + ended
        end
      end
      settleTallies()
      local left = tonumber(flag[2]) - total
      if total > 0 then redis.call('HSET', w, job, left, 'lo', now()) end
      if left == 0 then
        redis.call('XDEL', KEYS[9], ARGV[7])
        if redis.call('XLEN', KEYS[9]) == 0 then
          redis.call('DEL', KEYS[9])
          redis.call('SREM', KEYS[8], ARGV[8])
        end
      end
      if total > 0 and redis.call('HINCRBY', w, 'x', -total) == 0 then
        redis.call('ZREM', KEYS[4], id)
        return keepInPlace(id, {w, KEYS[10], codes, KEYS[11], KEYS[12]}, KEYS[6], KEYS[7], KEYS[5], ARGV[3], ARGV[4])
      end
      return 0
      """)

  /// Ends a part of which it cannot be told who is in it: not started, or its snapshot cannot be read. What has no outcome
  /// counts as `counter`. KEYS lease, work, starts, ends, finished, segments, kept, odd, snapshot, codes, deliveries, slices, tallies
  /// · ARGV owner, raw id, hour, retention, counter, 1 if it is odd → 0, or how it ended
  static let abandonAudience = RedisScript(
    "abandonAudience",
    "#!lua flags=allow-oom\n" + Fragment.owner + Fragment.keepInPlace + Fragment.tally + """
      local w, id = KEYS[2], ARGV[2]
      redis.call('ZREM', KEYS[3], id)
      redis.call('ZREM', KEYS[4], id)
      local flag = redis.call('HMGET', w, 'a', 'n', 'x')
      if not flag[1] or flag[3] == '0' then return 0 end
      if ARGV[6] == '1' then redis.call('INCR', KEYS[8]) end
      local left = tonumber(flag[3] or flag[1])
      redis.call('HINCRBY', w, ARGV[5], left)
      tally(ARGV[5], left)
      settleTallies()
      redis.call('HSET', w, 'n', flag[2] or left, 'x', 0, 'r', 0)
      return keepInPlace(id, {w, KEYS[9], KEYS[10], KEYS[11], KEYS[12]}, KEYS[6], KEYS[7], KEYS[5], ARGV[3], ARGV[4])
      """)
}
