/// Lua that several scripts share. Numbers beyond 14 digits are formatted by hand: Lua would round them.
enum Fragment {
  /// KEYS[1] is the lease, ARGV[1] its owner: refused unless equal (design D5).
  static let owner = """
    if redis.call('HGET', KEYS[1], 'o') ~= ARGV[1] then return redis.error_reply('LEASE of another owner') end

    """

  static let clock = """
    local function now()
      local t = redis.call('TIME')
      return string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000))
    end

    """

  /// Moves live hashes into the segment of their hour; see `Archive` for the reader.
  static let archive =
    clock + """
      local function pack(list)
        local out = {}
        for i = 1, #list do
          out[#out + 1] = struct.pack('>I4', #list[i])
          out[#out + 1] = list[i]
        end
        return table.concat(out)
      end
      local function keep(seg, segs, hour, life, field, value)
        redis.call('HSET', seg, field, value)
        if redis.call('TTL', seg) < tonumber(life) then redis.call('EXPIRE', seg, life) end
        redis.call('ZINCRBY', segs, #value + 120, hour)
      end
      local function endPart(w, d, s)
        local work = redis.call('HGETALL', w)
        local failed, ttl, counters = '0', 0, {}
        for i = 1, #work, 2 do
          if string.byte(work[i]) == 107 then
            counters[#counters + 1] = work[i]
            counters[#counters + 1] = work[i + 1]
            if string.find(work[i], '\\1failed\\1', 1, true) then failed = '1' end
          elseif work[i] == 'l' then
            ttl = tonumber(work[i + 1])
          end
        end
        local deliveries = redis.call('HGETALL', d)
        redis.call('DEL', w, d, s)
        return pack(work), pack(deliveries), failed, failed .. pack(counters), ttl
      end
      local function keepPart(id, w, d, s, seg, segs, finished, hour, retention)
        local work, deliveries, _, ending, ttl = endPart(w, d, s)
        -- Other parts may need all of the message's time; what is kept of this one stays as long.
        local life = retention + ttl
        keep(seg, segs, hour, life, 'w' .. id, work)
        keep(seg, segs, hour, life, 'd' .. id, deliveries)
        redis.call('HSET', finished, id, ending)
        return ending
      end
      local function endMessage(m, failed)
        local all = redis.call('HGETALL', m)
        local kept = {'don', now()}
        for i = 1, #all, 2 do
          if all[i] == 'bf' then failed = '1' end
        end
        for i = 1, #all, 2 do
          if all[i] ~= 'b' or failed == '1' then
            kept[#kept + 1] = all[i]
            kept[#kept + 1] = all[i + 1]
          end
        end
        redis.call('DEL', m)
        return pack(kept)
      end
      local function close(id, w, d, s, m, seg, segs, finished, hour, retention, here, told)
        if here == '1' and redis.call('HGET', m, 'np') == '1' then
          local work, deliveries, failed = endPart(w, d, s)
          keep(seg, segs, hour, retention, 'a' .. id, pack({endMessage(m, failed), work, deliveries}))
        else
          told[#told + 1] = id
          told[#told + 1] = keepPart(id, w, d, s, seg, segs, finished, hour, retention)
        end
      end

      """

  /// Adds a message's part of a partition: `addPart(at, w, d, seq, ready, waiting, firstStream)`; answers whether
  /// nothing of it is left to do. ARGV from `at`: id, channel, ttl, partition, count, list, ended and jobs as `Part` writes
  /// them.
  static let addPart = """
    local function addPart(at, w, d, seq, ready, waiting, firstStream)
      local id, channel, ttl, partition = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
      local count, list = tonumber(ARGV[at + 4]), ARGV[at + 5]
      local ended = tonumber(ARGV[at + 6])
      at = at + 7
      local base = redis.call('INCRBY', seq, count) - count + 1
      redis.call('HSET', w, 's', string.format('%.0f', base), 'n', count, 't', list, 'x', count - ended, 'r', 0, 'l', ttl)
      for i = 1, ended do
        redis.call('HSET', d, ARGV[at], ARGV[at + 1])
        redis.call('HINCRBY', w, ARGV[at + 2], 1)
        at = at + 3
      end
      local jobs = tonumber(ARGV[at])
      at = at + 1
      for i = 1, jobs do
        local name = ARGV[at + 1]
        redis.call('XADD', KEYS[firstStream + tonumber(ARGV[at])],
          string.format('%.0f', base + tonumber(ARGV[at + 2])) .. '-1',
          'm', id, 'f', ARGV[at + 2], 'i', ARGV[at + 3], 't', ARGV[at + 4])
        local rings = redis.call('SADD', ready, name)
        rings = rings + redis.call('SREM', waiting, name)
        if rings > 0 then redis.call('PUBLISH', channel, 'w ' .. partition .. ' ' .. name) end
        at = at + 5
      end
      return ended == count
    end

    """
}
