/// Lua that several scripts share. Numbers beyond 14 digits are formatted by hand: Lua would round them.
enum Fragment {
  /// KEYS[1] is the lease, ARGV[1] what `LeaseFence` writes: its owner, the highest number that Redis has confirmed to
  /// it, and the number of this script. A lease of another owner refuses. So does one whose number is below what was
  /// confirmed: Redis has lost writes that the owner has seen. Such a lease ends here, as it was granted by a history
  /// that ended.
  static let fence = """
    local function refusal()
      local owner, confirmed, number = string.match(ARGV[1], '^(%S+) (%d+) (%d+)$')
      local held = redis.call('HMGET', KEYS[1], 'o', 'v')
      if not owner or held[1] ~= owner then return redis.error_reply('LEASE of another owner') end
      local last = tonumber(held[2] or 0) or 0
      if last < tonumber(confirmed) then
        redis.call('HSET', KEYS[1], 'o', '', 'u', 0)
        return redis.error_reply('HISTORY ends at write ' .. last .. ' and the owner has seen ' .. confirmed)
      end
      if last < tonumber(number) then redis.call('HSET', KEYS[1], 'v', number) end
    end

    """

  /// Only for the owner of the lease, in the history that granted it (design D5).
  static let owner =
    fence + """
      local refused = refusal()
      if refused then return refused end

      """

  /// The second half of an entry's id, from the message that it carries: after Redis has lost its last writes a place
  /// in a stream is given out again, and what removes the former job of that place must not find the new one.
  static let mark = """
    local function mark(id) return string.format('-%.0f', (struct.unpack('>I4', id, 13))) end

    """

  /// How a flush begins: whether it is new, and what of it was pruned. ARGV[2…5] number, chunk, retention, pruned; the
  /// lease remembers the last one. `member` names a delivery in the retry set.
  static let flush =
    earlier + """
      local number, chunk = tonumber(ARGV[2]), tonumber(ARGV[3])
      local last = redis.call('HMGET', KEYS[1], 'f', 'c', 'p')
      local lastNumber, lastChunk = tonumber(last[1] or 0), tonumber(last[2] or 0)
      local pruned = tonumber(ARGV[5])
      local fresh = true
      if number > 0 then
        fresh = number > lastNumber or (number == lastNumber and chunk > lastChunk)
        if number == lastNumber and pruned < tonumber(last[3] or 0) then pruned = tonumber(last[3] or 0) end
      end
      local function member(id, index) return id .. struct.pack('>I4', tonumber(index)) end

      """

  /// The attempts that a record holds.
  static let earlier = """
    local function earlier(record)
      return record and #record > 2 and string.sub(record, 4 + struct.unpack('>I2', record, 2)) or ''
    end
    -- … and has from now on: who tells some tells all.
    local function tried(record, attempts) return attempts ~= '' and attempts or earlier(record) end

    """

  /// Messages that were asked for under an idempotency key: each is stored once while its key lives, whoever reserved
  /// the key comes when. `keyed(set, row, till)`: the raw ids of a row, and which of them were stored before; nil when
  /// a key may have ended, at `till`. `remember` comes last in a script, when they are stored. Needs `clock`.
  static let keyed = """
    local function keyed(set, row, till)
      local ids, known = {}, {}
      for at = 1, #row - 15, 16 do ids[#ids + 1] = string.sub(row, at, at + 15) end
      if #ids == 0 then return ids, known end
      if tonumber(now()) >= tonumber(till) then return nil end
      for i, held in ipairs(redis.call('SMISMEMBER', set, unpack(ids))) do
        if held == 1 then known[ids[i]] = true end
      end
      return ids, known
    end
    local function remember(set, ids, life)
      if #ids == 0 then return end
      redis.call('SADD', set, unpack(ids))
      -- An hour more than is asked for, so that not every message has to renew it.
      if redis.call('TTL', set) < tonumber(life) then redis.call('EXPIRE', set, life + 3600) end
    end

    """

  /// `listed(hours, ends, hour, life)`: the listing of an hour lives on for so many seconds. Hours whose listing has
  /// ended leave both sets. Needs `clock`.
  static let listed = """
    local function listed(hours, ends, hour, life)
      redis.call('ZADD', hours, hour, hour)
      redis.call('ZADD', ends, 'GT', string.format('%.0f', now() + life * 1000), hour)
      for _, key in ipairs({hours, ends}) do
        redis.call('EXPIRE', key, life, 'NX')
        redis.call('EXPIRE', key, life, 'GT')
      end
      local gone = redis.call('ZRANGEBYSCORE', ends, '-inf', '(' .. now(), 'LIMIT', 0, 100)
      if #gone > 0 then
        redis.call('ZREM', hours, unpack(gone))
        redis.call('ZREM', ends, unpack(gone))
      end
    end

    """

  static let clock = """
    local time
    local function now()
      if not time then
        local t = redis.call('TIME')
        time = string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000))
      end
      return time
    end

    """

  /// Moves live hashes into the segment of their hour; see `Archive` for the reader.
  static let archive =
    clock + """
      -- Lengths repeat: packing one anew costs more than all else here.
      local lengths = {}
      local function pack(list)
        local out, at = {}, 0
        for i = 1, #list do
          local item = list[i]
          local length = lengths[#item]
          if not length then
            length = struct.pack('>I4', #item)
            lengths[#item] = length
          end
          out[at + 1] = length
          out[at + 2] = item
          at = at + 2
        end
        return table.concat(out)
      end
      -- Gathered by segment and written at the end of the script by settle(), before what moved is deleted.
      local kept, segments, dropped = {}, {}, {}
      local function keep(seg, segs, hour, life, field, value)
        local group = kept[seg]
        if not group then
          group = {segs = segs, hour = hour, life = 0, bytes = 0}
          kept[seg] = group
          segments[#segments + 1] = seg
        end
        group[#group + 1] = field
        group[#group + 1] = value
        group.bytes = group.bytes + #value + 120
        group.life = math.max(group.life, tonumber(life))
      end
      local function drop(key) dropped[#dropped + 1] = key end
      local function settle()
        for _, seg in ipairs(segments) do
          local group = kept[seg]
          redis.call('HSET', seg, unpack(group))
          if redis.call('TTL', seg) < group.life then redis.call('EXPIRE', seg, group.life) end
          redis.call('ZINCRBY', group.segs, group.bytes, group.hour)
        end
        if #dropped > 0 then redis.call('DEL', unpack(dropped)) end
      end
      local function sealPart(work, deliveries)
        local failed, ttl, counters = '0', 0, {}
        for i = 1, #work, 2 do
          if string.byte(work[i]) == 107 or work[i] == 'fa' or work[i] == 'lo' then
            counters[#counters + 1] = work[i]
            counters[#counters + 1] = work[i + 1]
            if string.find(work[i], '\\1failed\\1', 1, true) or string.find(work[i], '\\1expired\\1', 1, true) then
              failed = '1'
            end
          elseif work[i] == 'l' then
            ttl = tonumber(work[i + 1])
          end
        end
        return pack(work), pack(deliveries), failed, failed .. pack(counters), ttl
      end
      local function sealMessage(all, failed)
        local sealed = {'don', now()}
        for i = 1, #all, 2 do
          if all[i] == 'bf' then failed = '1' end
        end
        for i = 1, #all, 2 do
          if all[i] ~= 'b' or failed == '1' then
            sealed[#sealed + 1] = all[i]
            sealed[#sealed + 1] = all[i + 1]
          end
        end
        return pack(sealed)
      end
      local function keepPart(id, work, deliveries, seg, segs, finished, hour, retention)
        local packedWork, packedDeliveries, _, ending, ttl = sealPart(work, deliveries)
        -- Other parts may need all of the message's time; what is kept of this one stays as long.
        local life = retention + ttl
        keep(seg, segs, hour, life, 'w' .. id, packedWork)
        keep(seg, segs, hour, life, 'd' .. id, packedDeliveries)
        redis.call('HSET', finished, id, ending)
        return ending
      end
      -- Ends a part: with its message, if it is the only one and that is here, or to be told.
      local function close(id, work, deliveries, m, seg, segs, finished, hour, retention, here, told)
        local all = here == '1' and redis.call('HGETALL', m) or {}
        for i = 1, #all, 2 do
          if all[i] == 'np' and all[i + 1] == '1' then
            local packedWork, packedDeliveries, failed = sealPart(work, deliveries)
            keep(seg, segs, hour, retention, 'a' .. id, pack({sealMessage(all, failed), packedWork, packedDeliveries}))
            return drop(m)
          end
        end
        told[#told + 1] = id
        told[#told + 1] = keepPart(id, work, deliveries, seg, segs, finished, hour, retention)
      end

      """

  /// Direct parts of more deliveries end where they stand: moving them would take longer than a script may.
  static let movedAtMost = 1_000

  /// Ends a part where it stands: its keys live on for the time of retention, or until the byte bound takes their hour.
  /// `keys`: all that the part has, the work hash first. Answers how it ended, for `finished` and home.
  static let keepInPlace =
    counterList + """
      local inPlaceFrom = \(movedAtMost)
      local function keepInPlace(id, keys, segs, kept, finished, hour, retention)
        local w = keys[1]
        local failed, counters = counterList(w)
        local life = tonumber(retention) + tonumber(redis.call('HGET', w, 'l'))
        local bytes = 0
        for _, key in ipairs(keys) do
          bytes = bytes + (redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 5) or 0)
          redis.call('EXPIRE', key, life)
        end
        redis.call('SADD', kept, id)
        if redis.call('TTL', kept) < life then redis.call('EXPIRE', kept, life) end
        redis.call('ZINCRBY', segs, bytes, hour)
        local ending = failed .. packList(counters)
        redis.call('HSET', finished, id, ending)
        return ending
      end

      """

  /// Counts outcomes at the moment they become final, by provider and outcome, in the hash that the last of KEYS names:
  /// `tally(counter, count)` for whatever a counter of a message grows by, `settleTallies()` once when all is written.
  /// A worker takes them from there (`takeTallies`): nobody else counts ends.
  static let tally = """
    local tallies = {}
    local function tally(counter, count)
      local name = string.match(counter, '^k([^\\1]*\\1[^\\1]*)')
      if name then tallies[name] = (tallies[name] or 0) + tonumber(count) end
    end
    local function settleTallies()
      for name, count in pairs(tallies) do
        redis.call('HINCRBY', KEYS[#KEYS], name, string.format('%.0f', count))
      end
    end

    """

  /// What home is told of a part: `1` if something failed, then counters and the times of first and last outcome.
  static let counterList = """
    local function packList(list)
      local out = {}
      for _, item in ipairs(list) do
        out[#out + 1] = struct.pack('>I4', #item)
        out[#out + 1] = item
      end
      return table.concat(out)
    end
    local function counterList(w)
      local names = {}
      for _, name in ipairs(redis.call('HKEYS', w)) do
        if string.byte(name) == 107 or name == 'fa' or name == 'lo' then names[#names + 1] = name end
      end
      if #names == 0 then return '0', {} end
      local failed, list = '0', {}
      for i, value in ipairs(redis.call('HMGET', w, unpack(names))) do
        list[#list + 1] = names[i]
        list[#list + 1] = value
        if string.find(names[i], '\\1failed\\1', 1, true) or string.find(names[i], '\\1expired\\1', 1, true) then
          failed = '1'
        end
      end
      return failed, list
    end

    """

  /// Adds a message's part of a partition: `addShard(at, id, w, d, base, firstStream, ready, waiting, channel,
  /// partition)`, `base` the sequence of its first delivery; answers whether nothing of it is left to do. `step` is nil
  /// of a part that comes as a whole, else which step it is (from 0), the index of its first delivery and how many
  /// deliveries the part has: `ps` in the work hash counts the steps that are here, `z` is their last sequence, lists
  /// of later steps are in `t1` and so on. ARGV from `at`: ttl, count, list, ended and jobs as `MessageShard` writes
  /// them. What may be damaged, a stream, is written before what tells that the part is here.
  static let addShard =
    mark + tally + """
      local filled = {}
      local function addPart(at, id, w, d, base, firstStream, ready, waiting, channel, partition, step)
        local ttl, count, list, ended = ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
        at = at + 4
        local job = at + 3 * ended + 1
        for i = 1, tonumber(ARGV[job - 1]) do
          local name, first = ARGV[job + 1], ARGV[job + 2]
          local place = base + first - (step and step.first or 0)
          redis.call('XADD', KEYS[firstStream + tonumber(ARGV[job])], string.format('%.0f', place) .. mark(id),
            'm', id, 'f', first, 'i', ARGV[job + 3], 't', ARGV[job + 4])
          if not filled[name] then
            filled[name] = true
            if redis.call('SADD', ready, name) + redis.call('SREM', waiting, name) > 0 then
              redis.call('PUBLISH', channel, 'w ' .. partition .. ' ' .. name)
            end
          end
          job = job + 5
        end
        local last = string.format('%.0f', base + count - 1)
        if step and step.number > 0 then
          redis.call('HSET', w, 't' .. step.number, list, 'ps', step.number + 1, 'z', last)
          if ended > 0 then redis.call('HINCRBY', w, 'x', -ended) end
        else
          local all = step and step.total or count
          redis.call('HSET', w, 's', string.format('%.0f', base), 'n', all, 't', list,
            'x', ended == 0 and all or string.format('%.0f', all - ended), 'r', '0', 'l', ttl)
          if step then redis.call('HSET', w, 'ps', 1, 'z', last) end
        end
        for i = 1, ended do
          redis.call('HSET', d, ARGV[at], ARGV[at + 1])
          redis.call('HINCRBY', w, ARGV[at + 2], 1)
          tally(ARGV[at + 2], 1)
          at = at + 3
        end
        if step then return redis.call('HGET', w, 'x') == '0' end
        return ended == tonumber(count)
      end

      """
}
