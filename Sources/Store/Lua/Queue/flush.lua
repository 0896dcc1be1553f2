#!lua flags=allow-oom
-- Outcomes of one partition (design D9): stretches of codes are read, changed and written back; counters move only for
-- codes that turn, and a code that is final never does. A repeated run changes nothing and answers the same. A small
-- part of a list that ends moves into the segment of its hour, every other one stays where it stands.
-- KEYS lease, finished, retry, ready, segments, ends, then per message: work, deliveries, slices, codes, kept, of an
-- audience its snapshot, of a list the message (or again work, when home is elsewhere), segment; then a stream per job.
-- ARGV owner, number, chunk, retention, pruned, messages, then per message: head, groups, records, retries, slices; then
-- jobs, and per job: place of its message, entry, name of the stream, first of the job, or '' for one of a list, whose
-- entry names its deliveries; last what counts towards caps, whose keys come behind; then tallies.
-- A message's head: raw id (16 bytes), then as numbers of 4 bytes hour, kind (0: list, 1: list whose home is here, 2:
-- audience), groups, records, retries, slices; then the time of the first attempt, as digits, or nothing.
-- A group: its head (code, 1 if some of them have a record, stretches, first of the job), counter or '', and the
-- stretches, each the number of its first byte and codes. A record: index, record. A retry: index, record, due. A slice:
-- number, the provider's id.
-- → pruned, raw ids and controls, fields and values of `finished` to be told.
-- use owner, clock, keepInPlace, flush, caps, tally
local finished, retry, segs, ends = KEYS[2], KEYS[3], KEYS[5], KEYS[6]
local messages = tonumber(ARGV[6])
local at, key = 7, 7
local controls, told, closed = {}, {}, {}

-- How a small part ends: made where the first one does, as a run pays for each function that it makes.
local endSmall, settleSmall
local function makeEndSmall()
-- use archive
  -- Adds these sums to fields and values, and puts these values there, but leaves the first `fa`.
  local function grow(list, sums, values)
    for i = 1, #list, 2 do
      local name = list[i]
      if sums[name] then
        list[i + 1] = string.format('%d', list[i + 1] + sums[name])
        sums[name] = nil
      elseif values[name] then
        if name ~= 'fa' then list[i + 1] = values[name] end
        values[name] = nil
      end
    end
    for name, count in pairs(sums) do
      list[#list + 1] = name
      list[#list + 1] = string.format('%d', count)
    end
    for name, value in pairs(values) do
      list[#list + 1] = name
      list[#list + 1] = value
    end
    return list
  end
  settleSmall = settle
  -- What is kept is put together here, not written, read again and deleted.
  endSmall = function(id, keys, isNew, moves, times, written, hour, here)
    local work = grow(redis.call('HGETALL', keys[1]), moves, times)
    local deliveries = isNew and {} or redis.call('HGETALL', keys[2])
    if #deliveries > 0 then
      local values = {}
      for i = 1, #written, 2 do values[written[i]] = written[i + 1] end
      grow(deliveries, {}, values)
    else
      deliveries = written
    end
    close(id, work, deliveries, keys[5], keys[6], segs, finished, hour, ARGV[4], here, told)
    for i = 1, 4 do drop(keys[i]) end
  end
end

-- Of the message at work: what its deliveries turned to by index, members of the retry set that leave it, and whose.
local id, place, turned, gone, stale
-- Of the group at work: how many had no code, and how many waited for a retry and have ended.
local code, tracks, fresher, back
-- What the half of a byte becomes.
local function turn(was, index)
  if was ~= 0 and was ~= 8 then return was end
  if was == 0 then fresher = fresher + 1 elseif code ~= 8 then back = back + 1 end
  if tracks or was == 8 then
    turned[index] = code
    if won and code ~= 8 then won[place .. ' ' .. string.format('%.0f', index)] = true end
    if was == 8 and code ~= 8 then
      gone[#gone + 1] = member(id, index)
      stale[#stale + 1] = string.format('%.0f', index)
    end
  end
  return code
end

for each = 1, messages do
  local w, d, s, codes = KEYS[key], KEYS[key + 1], KEYS[key + 2], KEYS[key + 3]
  local raw, hour, kind, groups, records, retries, slices, rest = struct.unpack('>c16I4I4I4I4I4I4', ARGV[at])
  local firstAt = string.sub(ARGV[at], rest)
  id, place, turned, gone, stale = raw, each, {}, {}, {}
  at = at + 1
  local flag = redis.call('HMGET', w, 'c', 'x', 'a', 'n', 'r', 'ap')
  if flag[1] then
    controls[#controls + 1] = id
    controls[#controls + 1] = flag[1]
  end
  -- What was taken for a list's and is an audience's, or the other way round, is not written.
  if fresh and flag[2] and tonumber(flag[2]) > 0 and groups > 0 and not flag[3] == (kind < 2) then
    local isSmall = not flag[3] and tonumber(flag[4]) <= inPlaceFrom
    -- The codes of a small part are read and written as a whole, if it has any, and not written if it ends.
    local isNew = flag[2] == flag[4] and flag[5] == '0'
    local all = isSmall and {string.byte(not isNew and redis.call('GET', codes) or '', 1, -1)}
    local moves, ended, retrying, held = {}, 0, 0, 0
    for i = 1, groups do
      local counter = ARGV[at + 1]
      local some, windows, job
      code, some, windows, job = struct.unpack('>I4I4I4I4', ARGV[at])
      tracks, fresher, back = some == 1, 0, 0
      for j = at + 2, at + 1 + windows do
        local start = struct.unpack('>I4', ARGV[j])
        local wanted = {string.byte(ARGV[j], 5, -1)}
        local bytes, from = all, start
        -- An index that the part has not is damage, and nothing turns.
        local last = math.min(#wanted, math.ceil(flag[4] / 2) - start)
        if isSmall then
          for k = #all + 1, last > 0 and start or 0 do all[k] = 0 end
        elseif last > 0 then
          bytes, from = {string.byte(redis.call('GETRANGE', codes, start, start + last - 1), 1, -1)}, 0
        end
        for k = 1, last do
          local want, own = wanted[k], from + k
          local byte = bytes[own] or 0
          if want == 0 then
            bytes[own] = byte
          elseif byte == 0 and not tracks then
            bytes[own] = want
            if want > 15 and want % 16 > 0 then fresher = fresher + 2 else fresher = fresher + 1 end
          else
            local low = byte % 16
            local high = (byte - low) / 16
            if want > 15 then high = turn(high, (start + k - 1) * 2) end
            if want % 16 > 0 then low = turn(low, (start + k - 1) * 2 + 1) end
            bytes[own] = high * 16 + low
          end
        end
        if not isSmall and last > 0 then redis.call('SETRANGE', codes, start, string.char(unpack(bytes))) end
      end
      at = at + 2 + windows
      if code == 8 then
        retrying = retrying + fresher
      elseif fresher + back > 0 then
        ended = ended + fresher + back
        retrying = retrying - back
        moves[counter] = (moves[counter] or 0) + fresher + back
        tally(counter, fresher + back, flag[6])
      end
      if fresher > 0 and flag[3] then
        local name = string.format('j%d', job)
        moves[name] = (moves[name] or 0) - fresher
      end
    end
    if #gone > 0 then redis.call('ZREM', retry, unpack(gone)) end
    -- What was kept of a retry goes on in its record, or with it.
    local known = {}
    if #stale + retries > 0 then
      local wanted = {}
      for i = 1, #stale do wanted[i] = stale[i] end
      for i = 1, retries do wanted[#wanted + 1] = ARGV[at + records * 2 + (i - 1) * 3] end
      local found = redis.call('HMGET', d, unpack(wanted))
      for i = 1, #wanted do known[wanted[i]] = found[i] end
    end
    -- Of two ends the first is written, of two retries the last.
    local written = {}
    for i = 1, records do
      local index = tonumber(ARGV[at])
      if turned[index] and turned[index] ~= 8 then
        turned[index] = nil
        written[#written + 1] = ARGV[at]
        written[#written + 1] = resumed(known[ARGV[at]], ARGV[at + 1])
      end
      at = at + 2
    end
    for _, index in ipairs(stale) do
      if known[index] and earlier(known[index]) == '' then held = held - 1 end
      if turned[tonumber(index)] then redis.call('HDEL', d, index) end
    end
    for i = 1, retries do
      local index = ARGV[at]
      if turned[tonumber(index)] == 8 then
        if earlier(known[index]) == '' then
          if known[index] then held = held - 1 end
          if earlier(ARGV[at + 1]) == '' then held = held + 1 end
        end
        known[index] = resumed(known[index], ARGV[at + 1])
        written[#written + 1] = index
        written[#written + 1] = known[index]
        redis.call('ZADD', retry, ARGV[at + 2], member(id, index))
      end
      at = at + 3
    end
    for i = 1, slices do
      redis.call('HSET', s, 'i' .. ARGV[at], ARGV[at + 1])
      at = at + 2
    end
    if retrying ~= 0 then moves.r = retrying end
    if held ~= 0 then moves.h = held end
    if ended > 0 then moves.x = -ended end
    local left = tonumber(flag[2]) - ended
    if left == 0 and isSmall then
      if not endSmall then makeEndSmall() end
      endSmall(id, {w, d, s, codes, KEYS[key + 5], KEYS[key + 6]}, isNew or flag[4] == '1', moves,
        {lo = now(), fa = firstAt ~= '' and firstAt or nil}, written, hour, kind == 1 and '1')
      closed[place] = true
    else
      if isSmall then redis.call('SET', codes, string.char(unpack(all))) end
      if #written > 0 then redis.call('HSET', d, unpack(written)) end
      for name, count in pairs(moves) do redis.call('HINCRBY', w, name, string.format('%d', count)) end
      if firstAt ~= '' then redis.call('HSETNX', w, 'fa', firstAt) end
      if ended > 0 then redis.call('HSET', w, 'lo', now()) end
      if left == 0 then
        if flag[3] then redis.call('ZREM', ends, id) end
        told[#told + 1] = id
        local keys = {w, d, s, codes, flag[3] and KEYS[key + 5] or nil}
        told[#told + 1] = keepInPlace(id, keys, segs, KEYS[key + 4], finished, hour, ARGV[4])
        closed[place] = true
      end
    end
  else
    for i = 1, groups do at = at + 2 + struct.unpack('>I4', ARGV[at], 9) end
    at = at + records * 2 + retries * 3 + slices * 2
  end
  key = key + 7
end

-- Whether each delivery of a list's job has an outcome or waits for a retry.
local function isDone(codes, entry)
  local row = entry[1] and entry[1][2][6]
  if not row then return true end
  local first = string.byte(row, 1) * 128 + math.floor(string.byte(row, 2) / 2)
  local last = string.byte(row, #row - 1) * 128 + math.floor(string.byte(row, #row) / 2)
  local held = redis.call('GETRANGE', codes, first, last)
  for i = 1, #row, 2 do
    local high, low = string.byte(row, i, i + 1)
    local byte = string.byte(held, high * 128 + math.floor(low / 2) - first + 1) or 0
    if low % 2 == 1 then byte = byte % 16 end
    if byte == 0 or low % 2 == 0 and byte < 16 then return false end
  end
  return true
end

if fresh then
  local jobs = tonumber(ARGV[at])
  at = at + 1
  local streams, removed, names = {}, {}, {}
  for j = 1, jobs do
    local part, entry, first, stream = tonumber(ARGV[at]), ARGV[at + 1], ARGV[at + 3], KEYS[key]
    local w, done = KEYS[part * 7], closed[part]
    if not done then
      local left = redis.call('HMGET', w, 'x', 'j' .. first)
      done = not left[1] or left[1] == '0' or left[2] == '0'
        or first == '' and isDone(KEYS[part * 7 + 3], redis.call('XRANGE', stream, entry, entry))
    end
    if done then
      if not removed[stream] then
        streams[#streams + 1] = stream
        removed[stream] = {}
        names[stream] = ARGV[at + 2]
      end
      local entries = removed[stream]
      entries[#entries + 1] = entry
    end
    at = at + 4
    key = key + 1
  end
  if settleSmall then settleSmall() end
  if won then countCaps(key) end
  for _, stream in ipairs(streams) do
    redis.call('XDEL', stream, unpack(removed[stream]))
    if redis.call('XLEN', stream) == 0 then
      redis.call('DEL', stream)
      redis.call('SREM', KEYS[4], names[stream])
    end
  end
  if number > 0 then redis.call('HSET', KEYS[1], 'f', ARGV[2], 'c', ARGV[3], 'p', pruned) end
end
settleTallies()
return {pruned, controls, told}
